"""The palettes there are. A tag is a colour or an hour that a prompt can ask for."""

from __future__ import annotations

from glisk.providers.studio.palette import palette

# name, tags, sky, far and near land, light, accents, paper and ink
PALETTES = (
    palette("ember", "red orange sunset", "2b1b3d 7a2e4d d9573f f9b05f", "b04e5c 1d0f24", "ffe0ae", "e4572e f29e4c 7d2e46 3f7c85 f6d6a8", "f7e9d7 22101c"),
    palette("rosy", "pink dawn", "5b6fa8 a98cc0 f0aab5 fde0c8", "a48cb8 2f2b52", "fff2d8", "e0607e f3a0a8 6d7fc2 f7c59f 3f4a8a", "fbeee6 2a2547"),
    palette("lagoon", "teal day", "0e5f76 2f98a5 8fd3c8 eaf6e2", "4fa8a4 073642", "fff7d6", "ff7f5b ffd25e 0b7a75 19535f f4f1de", "f3f3e4 06303b"),
    palette("midnight", "blue night", "050a1f 0d1b46 24407f 6b8cc0", "34538c 04081a", "f4f1de", "f2c14e 7fb7e6 e07a8b 3b5ba9 b8d0eb", "e8edf5 060b1e"),
    palette("boreal", "green night", "03121c 062b33 0f5c56 5ab893", "12524f 020b10", "e4ffe9", "5ef2a2 3ad1c4 a06be8 f2e863 0f6b5c", "e9f3ea 03161a"),
    palette("saffron", "yellow gold day", "c7641a e8962e f6c453 fdeec0", "c97b2a 4a2412", "fffbe3", "d1495b 2e6f73 edae49 30638e 7a3b1e", "fbf3dd 3a1d0e"),
    palette("moss", "green day", "3f6b56 86a98a c9d8b0 f4f0d0", "7fa384 0f2a20", "fff6cf", "e2725b f0b949 2d6a4f 95b46a bc4b51", "f4f1e1 10241c"),
    palette("plum", "purple dusk", "1d1135 4a2470 9a4c95 f0a1a8", "7b4690 150a26", "ffe3cf", "f25f8b 8a5cd6 ffb86b 5bc0be 5a2a83", "f5ebf3 190c2b"),
    palette("winter", "white grey day", "8fa6bd b9c9d8 dde5ea f7f7f2", "a9bccb 33475c", "ffffff", "c8553d 588b8b f28f3b 2f4858 93b7be", "f8f7f3 22303d"),
    palette("noir", "black grey night", "0d0d10 26272c 5d5f66 b8b8b4", "5b5d64 060608", "fff6e0", "d7263d c8a35a 8a8d91 f2e9dc 3a3c42", "f1ede4 101013"),
    palette("terracotta", "orange brown day", "6f9fae b8cbbf f0d9b0 f6c08a", "d99a6c 5a2a22", "fff0c9", "c8553d e9b872 2a6f76 8d3b32 f4e4c1", "f6ead7 35170f"),
    palette("candy", "pink pastel day", "7cc6e8 b9b8f0 f7b6d8 ffe3d3", "c99bd6 4b2c78", "fffdf0", "ff6fa3 ffc857 5cc8d7 8f6bd8 ff9b71", "fff3ee 3a2261"),
    palette("cherry", "red sunset", "3a0713 84142a d33a3c f7a278", "b03a44 1f0309", "fff0d5", "e63946 f4d6a0 1d3557 a8201a 6fa8a0", "f9ece0 240509"),
    palette("riviera", "blue day", "1f5fa8 4f96d2 a8d2ec f6ecd0", "6f9fc6 123458", "fffbe0", "ff6b4a ffd166 0f7fbf 06a77d fdf0d5", "f7f3e8 0d2a4a"),
    palette("neon", "purple night neon", "0a0420 2a0a55 8a1c8c ff5fa2", "53208a 07021a", "ffd3ea", "00e5ff ff2e88 ffe14d 8b5cff 2c0f6b", "f6ecff 0a0420"),
    palette("harvest", "brown orange gold autumn", "7a6a53 b79b6c e3c58d f5e3bd", "b08a55 33200f", "ffefc4", "b5442c e09f3e 6b705c 9e2a2b 335c67", "f5ead2 2b1a0c"),
    palette("mint", "green mint spring day pastel", "76b7b2 a9d8c4 d8eecf fdf6d8", "8cc4aa 1f5448", "fffef0", "ff8a7a ffc94d 3aa17e 6c8ebf f6a6b2", "f6f7e8 163f37"),
    palette("storm", "grey blue storm", "1e2a33 3c505d 74878f cfcfc0", "56696f 0c1318", "fbf3d5", "e8b04b 5f8a8b b8573f d8dcd6 2e4450", "eceae0 10191f"),
    palette("lavender", "purple lavender dusk dawn", "2d3561 6a5a9c c58fb4 f6cdb4", "8f7db3 1c1c3d", "fff0df", "f08a8a c9a0dc 6fb1c9 f5d491 4a4a8a", "f7efec 1e1d40"),
    palette("copper", "teal orange copper sunset", "0d3b44 2f6f6f c98d5e f7c98b", "4f7f78 07222a", "fff0cd", "d9713c 2a8c82 f3c06b 8c3b2a 134e57", "f6ecdb 08262d"),
    palette("regal", "gold blue night", "0a1033 1f2a6b 6a4f8f eab25c", "4c4787 060a22", "fff0c2", "d9a441 f6dc9c 3b4cc0 b0413e 7b68b8", "f5efdf 0a0f2c"),
    palette("coral", "coral pink sunset", "14505c 3e8e8f f2a08a ffd9b8", "6d9c97 0a3039", "fff3dc", "ff6f59 ffb997 2a9d8f 264653 e9c46a", "fbefe3 0d2f38"),
    palette("blossom", "pink white spring dawn", "8fb4cf cfcfe2 f6cfd6 fdf0ea", "c3aebd 4a3550", "ffffff", "e56b88 f7b5c2 7fa37a b24a6b f4e0a0", "fdf4f1 3c2a40"),
    palette("abyss", "blue teal night", "020c16 04283b 0b5d72 57b5b5", "0e4a5c 01070d", "dffcf5", "ff8c5a 2ec4b6 cbf3f0 f5d65b 0a6f86", "e8f3f1 02131d"),
)  # fmt: skip
