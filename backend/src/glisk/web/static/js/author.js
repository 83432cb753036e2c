// A wallet signs a prompt, and Glisk is told. What is signed comes from Glisk as it is; the wallet shows it.
"use strict";

const part = (id) => document.getElementById(id);
const longest = Number(part("author").dataset.longest);
const DECLINED = 4001; // EIP-1193
const UNKNOWN_CHAIN = 4902;
const LOOK_EVERY_MS = 700;
const found = new Map(); // wallets by their names
let wallet = null;
let account = null;

// Wallets say that they are here when they are asked (EIP-6963); an older one just is.
window.addEventListener("eip6963:announceProvider", (event) => offer(event.detail.info.name, event.detail.provider));
window.dispatchEvent(new Event("eip6963:requestProvider"));
setTimeout(() => {
  if (found.size === 0 && window.ethereum) offer("wallet", window.ethereum);
  part("none").hidden = found.size > 0;
}, 200);

part("prompt").addEventListener("input", count);
part("draw").addEventListener("click", () => attempt(draw, part("draw")));
part("writing").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(publish, part("publish"));
});

function offer(name, provider) {
  if (found.has(name)) return;
  found.set(name, provider);
  part("none").hidden = true;
  const button = document.createElement("button");
  button.className = "button";
  button.textContent = `Connect ${name}`;
  button.addEventListener("click", () => attempt(() => connect(provider), button));
  part("wallets").append(button);
}

async function connect(provider) {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  if (wallet !== provider) provider.on?.("accountsChanged", (now) => attempt(() => use(now[0])));
  wallet = provider;
  await use(accounts[0]);
}

async function use(address) {
  account = address ?? null;
  part("writing").hidden = part("account").hidden = account === null;
  part("account").firstElementChild.textContent = account ?? "";
  part("wallets").hidden = account !== null && found.size === 1;
  if (account === null) return say("The wallet has disconnected.", false);
  part("outcome").hidden = true;
  await show();
}

async function show() {
  const standing = await ask(`/authors/${account}`);
  const when = standing.published_at ? ` It was published ${new Date(standing.published_at).toLocaleString()}.` : "";
  const has = standing.has_prompt ? `A prompt of yours is in use.${when}` : "No prompt of yours is published yet.";
  part("standing").textContent = has;
  part("standing").hidden = false;
  quote(standing.prompt);
}

async function publish() {
  const disclosure = document.querySelector("input[name=disclosure]:checked").value;
  const draft = { prompt: part("prompt").value, disclosure };
  const typed = await ask(`/authors/${account}/typed-data`, draft);
  await be(typed.domain.chainId);
  const signature = await wallet.request({
    method: "eth_signTypedData_v4",
    params: [account, JSON.stringify(typed)],
  });
  const { nonce, deadline } = typed.message;
  const { chainId, verifyingContract } = typed.domain;
  const address = `/authors/${account}/prompt?contract=${chainId}:${verifyingContract}`;
  await ask(address, { ...draft, nonce, deadline, signature });
  await show();
  quote(draft.prompt);
  say("Published. What is minted in your name from now on is drawn from it.", true);
}

// Drawn as a token's picture is. Of several that were asked for the last one is shown.
async function draw() {
  const prompt = part("prompt").value;
  picture(null, "It is being drawn…");
  try {
    picture(...(await drawn(await ask("/previews", { prompt }), prompt)));
  } catch (error) {
    part("preview").hidden = true;
    throw error;
  }
}

async function drawn(preview, prompt) {
  while (preview.picture === null && preview.error === null) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    preview = await ask(`/previews/${preview.previewId}`);
  }
  if (preview.picture === null) throw new Error(`It could not be drawn: ${preview.error}`);
  return [preview.picture, `“${prompt}”`];
}

function picture(address, text) {
  const [image, caption] = part("preview").children;
  part("preview").hidden = false;
  part("outcome").hidden = true;
  image.hidden = address === null;
  if (address !== null) Object.assign(image, { src: address, alt: "How your prompt would be drawn" });
  caption.textContent = text;
}

// Wallets sign for the chain they are on alone.
async function be(chain) {
  const wanted = `0x${chain.toString(16)}`;
  if (Number(await wallet.request({ method: "eth_chainId" })) === chain) return;
  try {
    await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
  } catch (error) {
    if (error.code !== UNKNOWN_CHAIN) throw error;
    throw new Error(`Your wallet does not know the chain ${chain}. Add it there, then sign again.`, { cause: error });
  }
}

async function ask(address, body) {
  const asked = body
    ? { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }
    : {};
  const answer = await fetch(address, asked);
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  throw new Error(`${told.code ?? answer.status} ${told.message ?? answer.statusText} ${told.remedy ?? ""}`.trim());
}

async function attempt(action, button) {
  if (button) button.disabled = true;
  try {
    await action();
  } catch (error) {
    say(error.code === DECLINED ? "The wallet was told not to. Nothing was published." : words(error), false);
  } finally {
    if (button) button.disabled = false;
  }
}

function words(error) {
  if (error instanceof TypeError) return "Glisk does not answer. Check the connection, then try again.";
  return error.message || "The wallet refused, and did not say why.";
}

function say(text, isGood) {
  const outcome = part("outcome");
  outcome.textContent = text;
  outcome.classList.toggle("bad", !isGood);
  outcome.hidden = false;
}

function quote(prompt) {
  part("published").textContent = prompt ?? "";
  part("published").hidden = !prompt;
}

function count() {
  const length = [...part("prompt").value].length;
  const isOver = length > longest;
  part("count").textContent = `${length} of ${longest} characters${isOver ? ": too many" : ""}`;
  part("count").classList.toggle("over", isOver);
  part("publish").disabled = isOver;
}
