"""What the keys of reports tell: whether they are a model's or a feature's, what high scores mean, which ones people
read by themselves.

The library has the same in the definitions of its features (src/kernels/*); the case `keys_are_those_of_the_library`
compares all of them.
"""

import re
from collections.abc import Sequence

# How the keys of features begin, after PREFIX; options of features add to their ends. What tells nothing of quality
# comes first.
PREFIX = "(?:integer_|VMAF_(?:integer_)?feature_)?"
NEUTRAL = r"motion[23]?(?:_|$)", "adm_(?:num|den)", "vif_(?:num|den)", "float_moment_", "cambi_source"
HIGH_IS_WORSE = "aim(?:_|$)", "butteraugli", "cambi", "mse_", "speed_chroma_", "speed_temporal"
HIGH_IS_BETTER = (
    *(
        "adm[23]?(?:_|$)",
        "vif(?:_|$)",
        "psnr_",
        "float_psnr",
        "float_ansnr",
        "float_anpsnr",
        "float_ssim",
        "float_ms_ssim",
        "xpsnr(?:_|$)",
    ),
    *("ciede2000", "ssimulacra2", "cvvdp(?:_|$)"),
)
# The main scores of the metrics that people read by themselves.
MAIN_FEATURES = (
    *(
        "psnr_y",
        "float_psnr",
        "float_ssim",
        "float_ms_ssim",
        "psnr_hvs",
        "xpsnr",
        "ssimulacra2",
        "butteraugli",
        "cvvdp",
        "ciede2000",
        "cambi",
    ),
    *("speed_chroma_uv", "speed_temporal"),
)


def _begins(key: str, beginnings: Sequence[str]) -> bool:
    return any(re.match(PREFIX + beginning, key) for beginning in beginnings)


def is_model(key: str) -> bool:
    return not _begins(key, (*NEUTRAL, *HIGH_IS_WORSE, *HIGH_IS_BETTER))


def are_jods(key: str) -> bool:
    """Whether their mean is not the arithmetic one, but that of differences."""
    return _begins(key, ("cvvdp(?:_|$)",))


def tells_quality(key: str) -> bool:
    return not _begins(key, NEUTRAL)


def worse_is_high(key: str) -> bool:
    return tells_quality(key) and _begins(key, HIGH_IS_WORSE)
