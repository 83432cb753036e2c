"""The author's page in a real browser, with a wallet whose key is real."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from glisk.processors.generating import Generating
from glisk.settings import Settings
from glisk.workflows import R2_IMAGE
from tests.authors import Wallet
from tests.browser.conftest import Open
from tests.browser.looking import axe, overflow
from tests.builders import CHAIN, CONTRACT
from tests.engines import at_work
from tests.web import opened

ANNA = Wallet()
ABOUT = "SELECT prompt_text, prompt_nonce, prompt_disclosure FROM authors WHERE wallet_address = $1"
# As a wallet puts itself into a page: what it is asked goes to the test, and a refusal comes back as an error with a code.
INJECTED = """
  const request = async (asked) => {
    const answer = JSON.parse(await window.askTheWallet(JSON.stringify(asked)));
    if (answer.code) throw Object.assign(new Error(answer.message), { code: answer.code });
    return answer.result;
  };
  const provider = { request, on: () => {} };
"""
OLD = INJECTED + "window.ethereum = provider;"
NEW = (
    INJECTED
    + """
  const detail = { info: { name: "Testmask", uuid: "1", icon: "", rdns: "test" }, provider };
  window.addEventListener("eip6963:requestProvider",
    () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
"""
)


@dataclass
class Holder:
    """Whose wallet it is. `declines`: a method that they say no to; `chain`: the one their wallet is on."""

    declines: str = ""
    chain: int = CHAIN
    knows: tuple[int, ...] = (CHAIN,)
    shown: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, text: str) -> str:
        asked = json.loads(text)
        method, params = asked["method"], asked.get("params", [])
        if method == self.declines:
            return json.dumps({"code": 4001, "message": "User rejected the request."})
        if method == "wallet_switchEthereumChain":
            return self.switch(int(params[0]["chainId"], 16))
        return json.dumps({"result": self.answer(method, params)})

    def answer(self, method: str, params: list[Any]) -> Any:
        match method:
            case "eth_requestAccounts":
                return [ANNA.address]
            case "eth_chainId":
                return hex(self.chain)
            case "eth_signTypedData_v4":
                self.shown.append(json.loads(params[1]))
                return ANNA.sign(self.shown[-1])
        raise AssertionError(method)

    def switch(self, chain: int) -> str:
        if chain not in self.knows:
            return json.dumps({"code": 4902, "message": "Unrecognized chain ID."})
        self.chain = chain
        return json.dumps({"result": None})

    async def comes(self, page: Page, address: str, kind: str = OLD) -> Page:
        await page.expose_function("askTheWallet", self.ask)
        await page.add_init_script(f"(() => {{{kind}}})()")
        await page.goto(f"{address}/author")
        return page


@pytest.fixture
async def address(database_url: str, data_dir: Path) -> AsyncIterator[str]:
    contract, node = f"{CHAIN}:{CONTRACT}", "http://127.0.0.1:9"
    async with opened(database_url, data_dir, contracts=contract, rpc_urls=node) as house:
        yield house.address


async def write(page: Page, prompt: str, choice: str = "Later") -> None:
    await page.get_by_label("Prompt", exact=True).fill(prompt)
    await page.get_by_role("radio", name=re.compile(f"^{choice}")).check()
    await page.get_by_role("button", name="Sign and publish").click()


@pytest.mark.parametrize(("kind", "button"), [(OLD, "Connect wallet"), (NEW, "Connect Testmask")])
async def test_an_author_connects_writes_signs_and_is_published(
    kind: str, button: str, address: str, page: Page, connection: Any
) -> None:
    holder = Holder()
    await holder.comes(page, address, kind)
    await page.get_by_role("button", name=button).click()
    await expect(page.get_by_text("No prompt of yours is published yet.")).to_be_visible()
    await write(page, "A fox 🦊 in the snow")
    await expect(page.get_by_role("status")).to_contain_text("Published.")
    await expect(page.get_by_text("A prompt of yours is in use.")).to_be_visible()
    assert tuple(await connection.fetchrow(ABOUT, ANNA.address)) == ("A fox 🦊 in the snow", 1, "later")
    assert holder.shown[0]["domain"]["verifyingContract"] == CONTRACT
    await write(page, "A crow", "As before")
    await expect(page.locator("#published")).to_have_text("A crow")
    assert tuple(await connection.fetchrow(ABOUT, ANNA.address)) == ("A crow", 2, "later")


async def test_characters_are_counted_as_people_count_them(address: str, page: Page) -> None:
    await Holder().comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    prompt, count = page.get_by_label("Prompt", exact=True), page.locator("#count")
    await prompt.fill("🦊" * 1000)
    await expect(count).to_have_text("1000 of 1000 characters")
    await expect(page.get_by_role("button", name="Sign and publish")).to_be_enabled()
    await prompt.fill("🦊" * 1001)
    await expect(count).to_have_text("1001 of 1000 characters: too many")
    await expect(page.get_by_role("button", name="Sign and publish")).to_be_disabled()


async def test_a_prompt_is_drawn_to_be_seen_before_it_is_published(
    address: str, page: Page, database_url: str, data_dir: Path, connection: Any
) -> None:
    await Holder().comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await page.get_by_label("Prompt", exact=True).fill("A fox in the snow")
    draws = Generating(Settings(data_dir=data_dir))
    async with at_work(database_url, {"generating": draws}, R2_IMAGE):
        await page.get_by_role("button", name="Draw a preview").click()
        picture = page.get_by_role("img", name="How your prompt would be drawn")
        await expect(picture).to_be_visible(timeout=20_000)
    await draws.close()
    assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    assert await connection.fetchval("SELECT count(*) FROM authors WHERE prompt_text IS NOT NULL") == 0


async def test_who_says_no_has_published_nothing(address: str, page: Page, connection: Any) -> None:
    await Holder(declines="eth_signTypedData_v4").comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await write(page, "A fox")
    await expect(page.get_by_role("status")).to_have_text("The wallet was told not to. Nothing was published.")
    assert await connection.fetchval("SELECT count(*) FROM authors") == 0


async def test_a_wallet_on_another_chain_is_asked_to_change(address: str, page: Page, connection: Any) -> None:
    holder = Holder(chain=1)
    await holder.comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await write(page, "A fox")
    await expect(page.get_by_role("status")).to_contain_text("Published.")
    assert holder.chain == CHAIN


async def test_a_wallet_that_does_not_know_the_chain_is_told_what_to_do(address: str, page: Page) -> None:
    await Holder(chain=1, knows=()).comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await write(page, "A fox")
    await expect(page.get_by_role("status")).to_contain_text(f"does not know the chain {CHAIN}. Add it there")


async def test_what_glisk_refuses_is_said_with_its_remedy(address: str, new_page: Open, connection: Any) -> None:
    """Somebody else has published with the same nonce meanwhile."""
    page, holder = await new_page(tolerates="409"), Holder()
    await holder.comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await expect(page.get_by_text("No prompt of yours")).to_be_visible()

    async def overtaken(route: Any) -> None:
        answer = await route.fetch()
        await connection.execute(
            "INSERT INTO authors (wallet_address, prompt_nonce, prompt_text) VALUES ($1, 1, 'x')", ANNA.address
        )
        await route.fulfill(response=answer)

    await page.route("**/typed-data", overtaken)
    await write(page, "A fox")
    await expect(page.get_by_role("status")).to_contain_text("GLK-814")
    await expect(page.get_by_role("status")).to_contain_text("sign anew")


async def test_without_a_wallet_the_page_says_how_else(address: str, page: Page) -> None:
    await page.goto(f"{address}/author")
    await expect(page.get_by_text("No wallet was found in this browser.")).to_be_visible()
    await page.get_by_text("Without a wallet in the browser").click()
    await expect(page.get_by_text("cast wallet sign")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_use_it_on_a_telephone(address: str, new_page: Open, scheme: Any) -> None:
    page = await new_page(viewport={"width": 360, "height": 800}, color_scheme=scheme)
    await Holder().comes(page, address)
    await page.get_by_role("button", name="Connect wallet").click()
    await page.get_by_text("Without a wallet in the browser").click()
    await write(page, "A fox in the snow " * 20)
    await expect(page.get_by_role("status")).to_contain_text("Published.")
    assert await axe(page) == []
    assert await overflow(page) == 0
