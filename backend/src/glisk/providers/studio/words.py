"""What a prompt's words ask for: a subject, a colour, an hour, a detail. Words that are not here are heard as chance."""

from __future__ import annotations

import re

# family: the words that ask for it | words that only suggest it. Several may be asked for alike; chance then chooses.
SUBJECTS = {
    "mountains": "mountain peak alps hill valley summit cliff himalaya volcano glacier fuji fjord landscape berg montaña montagne гора горы 山 ⛰ 🏔 🗻 | lake snow moon nature hike epic sunrise",
    "sea": "sea ocean wave beach coast boat ship sail sailing island harbor harbour lighthouse shore whale mar mer meer море 海 🌊 ⛵ 🏖 | water horizon moon summer vacation calm",
    "aurora": "aurora borealis northern arctic polar iceland norway antarctica 🌌 | north winter snow ice night cold star",
    "planet": "space planet saturn jupiter mars cosmos cosmic astronaut rocket spaceship spacecraft orbit alien космос 宇宙 🪐 🚀 🌍 👽 | moon star universe future sci",
    "galaxy": "galaxy nebula universe stardust constellation milky milkyway wormhole supernova 🌠 ✨ | star cosmos cosmic dream infinity eternal",
    "glass": "glass stained cathedral church mosaic crystal gem jewel diamond kaleidoscope 💎 | window angel saint god holy",
    "flow": "flow wind abstract music song dance jazz rhythm melody symphony 🎵 🎶 | river hair motion movement string energy chaos line",
    "garden": "garden botanical plant leaf meadow herb poppy tulip daisy bee butterfly wildflower fern flower blume fleur flor цветы 花 🌼 🌷 🌿 🦋 | spring nature green bouquet",
    "bloom": "bloom rose dahlia lotus mandala sunflower peony lily chrysanthemum blossom flower 🌸 🌹 🌻 🪷 | heart love spring petal sacred ❤",
    "city": "city skyline street tokyo york paris london berlin cyberpunk urban tower building skyscraper metropolis downtown stadt ville ciudad город 城市 🌃 🏙 🌆 | neon night future futuristic rain car street",
    "papercut": "paper papercut cave canyon layer origami cutout collage reef underwater fish 🐟 🐠 | depth coral deep secret portal",
    "bauhaus": "bauhaus geometric geometry poster square circle triangle cube robot machine computer code 🔺 🤖 | shape modern minimal minimalist math architecture logic pixel retro",
    "marble": "marble liquid fluid lava smoke oil agate psychedelic swirl surreal acrylic 🔥 | abstract gold ink stone texture fire melting dream",
    "silk": "silk fabric veil ribbon gradient zen meditation 🧘 | soft smooth calm peace quiet wave dream minimal",
    "forest": "forest tree wood woods jungle deer wolf fox bear owl birch fairy elf wald forêt bosque лес 森 🌲 🌳 🦌 🦊 | fog mist pine autumn magic mystic green",
    "dunes": "desert dune sand sahara egypt camel pyramid arabia caravan oasis wüste пустыня 🏜 🐪 | dry hot heat ancient",
    "kittens": "cat kitten kitty feline meow katze gato chat кот котик кошка котята 猫 🐱 🐈 😺 😸 😻",
    "balloons": "balloon festival lantern flight airship carnival celebration birthday party 🎈 🎉 | sky cloud fly flying adventure journey happy joy dragon bird",
    "mask": "portrait face mask king queen hero warrior samurai monster totem clown punk 👤 👩 👨 🎭 | man woman girl boy person people human ape soul",
}  # fmt: skip

# tag of a palette: the words that ask for it
TINTS = {
    "red": "red scarlet crimson ruby cherry blood lava rot rouge rojo красный 🔴 🌹",
    "orange": "orange amber tangerine rust fire flame 🔥 🟠",
    "copper": "copper bronze rust",
    "gold": "gold golden brass honey treasure oro золотой",
    "yellow": "yellow lemon sunny mustard sun amarillo gelb jaune жёлтый желтый 🟡 ☀ 🌻",
    "green": "green emerald jade lime olive verde grün vert зелёный зеленый 🟢 🌿",
    "mint": "mint mints",
    "teal": "teal turquoise aqua cyan aquamarine",
    "blue": "blue azure cobalt sapphire navy indigo azul blau bleu синий голубой 🔵 💙",
    "purple": "purple violet lilac amethyst mauve фиолетовый 🟣 💜",
    "lavender": "lavender wisteria heather",
    "pink": "pink blush magenta fuchsia bubblegum rosa sakura розовый 🌸 💗",
    "coral": "coral salmon peach",
    "brown": "brown chocolate coffee sepia earth wooden 🟤",
    "white": "white ivory snow snowy ice icy frozen frost pale silver winter blanco weiß blanc белый ⚪ ❄",
    "black": "black dark noir shadow gothic monochrome negro schwarz чёрный черный ⚫ 🖤",
    "grey": "grey gray ash smoke concrete",
    "pastel": "pastel candy kawaii soft cute dreamy",
    "neon": "neon cyberpunk synthwave vaporwave retrowave laser glowing electric",
    "sunset": "sunset sundown evening закат 🌅 🌇",
    "dusk": "dusk twilight gloaming",
    "dawn": "dawn sunrise morning daybreak рассвет 🌄",
    "night": "night midnight moonlight moonlit starry nocturnal moon ночь nacht noche nuit 🌙 🌃",
    "day": "day noon daylight bright sunny summer день",
    "storm": "storm stormy rain rainy thunder lightning gale ⛈ 🌧",
    "autumn": "autumn fall october harvest 🍂 🍁",
    "spring": "spring april sakura may",
}  # fmt: skip

# a detail of a scene: the words that ask for it
DETAILS = {
    "moon": "moon moonlight moonlit lunar 🌙",
    "snow": "snow snowy winter ice glacier",
    "boat": "boat ship sail sailing sailboat ⛵",
    "lighthouse": "lighthouse",
    "lake": "lake reflection water fjord mirror",
    "pines": "pine forest tree woods fir",
    "ring": "saturn ring 🪐",
    "fireflies": "firefly fireflies magic fairy glow",
    "birds": "bird gull crane swallow flock 🐦",
}  # fmt: skip


def heard(prompt: str) -> frozenset[str]:
    """Its words as the tables write them, one by one, and each sign that is not a letter of an alphabet."""
    words = re.findall(r"[^\W\d_]+", prompt.casefold())
    singular = (word.removesuffix("s") for word in words)
    return frozenset([*words, *singular, *(sign for sign in prompt if ord(sign) > 0x2190)])


def asked(words: frozenset[str], table: dict[str, str]) -> dict[str, int]:
    """How loudly the words ask for each row of the table; rows nobody asks for are left out."""
    loudness = {}
    for name, row in table.items():
        asking, _, suggesting = row.partition("|")
        loudness[name] = 2 * len(words & frozenset(asking.split())) + len(words & frozenset(suggesting.split()))
    return {name: count for name, count in loudness.items() if count}
