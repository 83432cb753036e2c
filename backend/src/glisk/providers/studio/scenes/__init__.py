"""The families of pictures: a new one is a file with a `paint`, a line here, and its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from numpy.random import Generator

from glisk.providers.studio.brief import Brief
from glisk.providers.studio.scenes import (
    aurora,
    balloons,
    bauhaus,
    bloom,
    city,
    dunes,
    flow,
    forest,
    galaxy,
    garden,
    glass,
    kittens,
    marble,
    mask,
    mountains,
    papercut,
    planet,
    sea,
    silk,
)
from glisk.providers.studio.sheet import Sheet

Scene: TypeAlias = Callable[[Sheet, Brief, Generator], None]

SCENES: dict[str, Scene] = {
    "aurora": aurora.paint,
    "balloons": balloons.paint,
    "bauhaus": bauhaus.paint,
    "bloom": bloom.paint,
    "city": city.paint,
    "dunes": dunes.paint,
    "flow": flow.paint,
    "forest": forest.paint,
    "galaxy": galaxy.paint,
    "garden": garden.paint,
    "glass": glass.paint,
    "kittens": kittens.paint,
    "marble": marble.paint,
    "mask": mask.paint,
    "mountains": mountains.paint,
    "papercut": papercut.paint,
    "planet": planet.paint,
    "sea": sea.paint,
    "silk": silk.paint,
}
