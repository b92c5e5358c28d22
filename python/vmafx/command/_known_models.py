"""The built-in models: for which display, distance and rate of frames each of them is made.

tools/make_models.py makes the table of docs/models.md from this list.
"""

from typing import NamedTuple

USUAL = "vif, adm, motion"
FLOAT = "float_vif, float_adm, float_motion"
OF_LUMA = USUAL, FLOAT


class KnownModel(NamedTuple):
    name: str
    rows: int  # of the display that it is made for
    heights: float  # the distance from which people look at it, in heights of the display
    most: int = 100  # the highest score; the lowest is 0
    features: str = USUAL  # metrics
    like: str = ""  # the model that it differs from
    traits: tuple[str, ...] = ()

    @property
    def remarks(self) -> str:
        return "; ".join((*([f"as {self.like}"] if self.like else []), *self.traits))


NO_GAIN = "does not reward sharpening"
COLLECTION = "a collection, which also gives the spread and a confidence interval"
FLOATING = "floating point"
V1 = "cambi, speed_chroma, adm, motion"
HIGH_RATE = "high frame rates, motion over five frames"
TEN_BITS = "made for 10 bits"

MODELS = (
    KnownModel("vmaf_v0.6.1", 1080, 3, traits=("the default",)),
    KnownModel("vmaf_v0.6.1neg", 1080, 3, like="vmaf_v0.6.1", traits=(NO_GAIN,)),
    KnownModel("vmaf_4k_v0.6.1", 2160, 1.5),
    KnownModel("vmaf_4k_v0.6.1neg", 2160, 1.5, like="vmaf_4k_v0.6.1", traits=(NO_GAIN,)),
    KnownModel("vmaf_b_v0.6.3", 1080, 3, traits=(COLLECTION,)),
    KnownModel("vmaf_float_v0.6.1", 1080, 3, 100, FLOAT, "vmaf_v0.6.1", (FLOATING,)),
    KnownModel("vmaf_float_v0.6.1neg", 1080, 3, 100, FLOAT, "vmaf_v0.6.1neg", (FLOATING, NO_GAIN)),
    KnownModel("vmaf_float_4k_v0.6.1", 2160, 1.5, 100, FLOAT, "vmaf_4k_v0.6.1", (FLOATING,)),
    KnownModel("vmaf_float_b_v0.6.3", 1080, 3, 100, FLOAT, "vmaf_b_v0.6.3", (FLOATING, COLLECTION)),
    KnownModel("vmaf_v1.0.16_3d0h", 1080, 3, 100, V1, traits=(TEN_BITS,)),
    KnownModel("vmaf_v1.0.16_5d0h", 1080, 5, 100, V1, traits=(TEN_BITS,)),
    KnownModel("vmaf_v1.0.16_1d5h_2160", 2160, 1.5, 100, V1, traits=(TEN_BITS,)),
    KnownModel("vmaf_v1.0.16_3d0h_2160", 2160, 3, 110, V1, traits=(TEN_BITS,)),
    KnownModel("vmaf_v1.0.16_hfr_3d0h", 1080, 3, 100, V1, "vmaf_v1.0.16_3d0h", (TEN_BITS, HIGH_RATE)),
    KnownModel("vmaf_v1.0.16_hfr_5d0h", 1080, 5, 100, V1, "vmaf_v1.0.16_5d0h", (TEN_BITS, HIGH_RATE)),
    KnownModel("vmaf_v1.0.16_hfr_1d5h_2160", 2160, 1.5, 100, V1, "vmaf_v1.0.16_1d5h_2160", (TEN_BITS, HIGH_RATE)),
    KnownModel("vmaf_v1.0.16_hfr_3d0h_2160", 2160, 3, 110, V1, "vmaf_v1.0.16_3d0h_2160", (TEN_BITS, HIGH_RATE)),
)
BY_NAME = {model.name: model for model in MODELS}
