"""Who draws? As the settings say; with none, the embedded studio."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from glisk.errors import BadOrder, BadSettings, Problem
from glisk.providers.port import Order, Painter
from glisk.providers.prices import Price, price_of
from glisk.settings import Settings, wanted
from glisk.values import text

if TYPE_CHECKING:
    from glisk.providers.replicate.predictions import Terms

WEBHOOK = "/webhooks/replicate"
USUAL_SECONDS = 10.0  # of computing, where that is what is paid for


def painter_name(settings: Settings) -> str:
    if settings.image_provider:
        return settings.image_provider
    if text(settings.replicate_api_token):
        return "replicate"
    return "sd_webui" if settings.sd_webui_url else "studio"


def painter(settings: Settings) -> Painter:
    """Each is loaded only when it is the one: their libraries take their time."""
    match painter_name(settings):
        case "replicate":
            return replicate(settings)
        case "sd_webui":
            return sd_webui(settings)
        case _:
            return studio()


def price(settings: Settings) -> Price | None:
    """Of one picture by whoever draws. None: nobody knows."""
    if painter_name(settings) != "replicate":
        return Price()
    return price_of(settings.replicate_model, own_prices(settings))


def own_prices(settings: Settings) -> dict[str, Price]:
    return {model: Price(**amounts) for model, amounts in settings.prices.items()}


def estimate(settings: Settings) -> Decimal | None:
    """What one picture will probably cost. A budget cannot do without it."""
    found = price(settings)
    return required(found.of(1, USUAL_SECONDS) if found else None, settings.replicate_model, settings)


def required(cost: Decimal | None, model: str, settings: Settings, like: str = '{"image": 0.003}') -> Decimal | None:
    if cost is None and settings.daily_budget is not None:
        wanted = f"what {model} costs is wanted by GLISK_DAILY_BUDGET, like {like}"
        raise BadSettings([Problem("GLISK_PRICES", "without it", wanted)])
    return cost


def size(settings: Settings) -> tuple[int, int]:
    width, height = settings.image_size.split("x")
    return int(width), int(height)


def replicate(settings: Settings, **further: Any) -> Painter:
    from glisk.providers.replicate.painter import Replicate
    from glisk.providers.replicate.poller import Rhythm
    from glisk.providers.replicate.predictions import Terms

    token = wanted(settings, "replicate_api_token", "r8_…, from your account at Replicate", by="image_provider")
    is_told = bool(settings.public_url and text(settings.replicate_webhook_secret))
    terms: dict[str, Any] = {
        "token": token,
        "model": settings.replicate_model,
        "url": settings.replicate_url,
        "webhook": f"{settings.public_url}{WEBHOOK}" if is_told else None,
        "own_inputs": settings.replicate_inputs,
        "price": price(settings),
        "rhythm": Rhythm(first=2.0, longest=30.0) if is_told else Rhythm(),
    }
    require_drawable(settings)
    return Replicate(Terms(**(terms | further)))


def replicate_terms(settings: Settings, model: str, by: str, **further: Any) -> Terms:
    """For a model that answers with words; `by`: the setting that wants it."""
    from glisk.providers.replicate.predictions import Terms

    token = wanted(settings, "replicate_api_token", "r8_…, from your account at Replicate", by=by)
    price = price_of(model, own_prices(settings))
    return Terms(**({"token": token, "model": model, "url": settings.replicate_url, "price": price} | further))


def require_drawable(settings: Settings) -> None:
    """A size that the model cannot draw is told at the start, and not by every token."""
    from glisk.providers.replicate.inputs import inputs

    try:
        inputs(settings.replicate_model, Order("", 0, *size(settings)), settings.replicate_inputs)
    except BadOrder as error:
        raise BadSettings([Problem("GLISK_IMAGE_SIZE", settings.image_size, error.said)]) from error


def sd_webui(settings: Settings) -> Painter:
    from glisk.providers.sd_webui import Options, SdWebui

    url = wanted(settings, "sd_webui_url", "its address, like http://127.0.0.1:7860,", by="image_provider")
    username, _, password = text(settings.sd_webui_auth).partition(":")
    return SdWebui(
        Options(url, username, password, steps=settings.sd_webui_steps, shares_loras=bool(settings.lora_dir))
    )


def studio() -> Painter:
    from glisk.providers.studio import Studio

    return Studio()
