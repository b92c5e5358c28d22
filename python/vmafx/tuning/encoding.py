"""Runs `vmafx encode`: the search, the encode with its score, and the output that appears when it is whole."""

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import encoders, output, scenes
from .encoders import Hdr
from .scenes import Scene
from .search import Outcome, search
from .table import Estimate
from .source import Source, open_source
from .targets import Target
from .whole import ACCEPTED, Encoded, Job, Part, encode_scored, score_file
from ..command import _ffmpeg, _scoring, crf
from ..command._files import refuse_parts
from ..command._models import Size
from ..command._outputs import Guard
from ..command._run import Processes
from ..command._statistics import pooled_values
from ..command._terminal import (
    Failure,
    counted,
    decimals_of,
    emit,
    note,
    print_table,
    progress,
    shown,
    time_text,
    whole_file,
)

TRIAL_FRAMES, TRIAL_S = 3, 0.5  # of the trial before all work
UNASKED = "vmaf=95"  # the score that is shown without a target


def run(arguments: argparse.Namespace, guard: Guard) -> int:
    """Runs the subcommand, whose arguments are checked."""
    ffmpeg = _ffmpeg.find_ffmpeg(arguments.ffmpeg)
    ffprobe = _ffmpeg.ffprobe_of(ffmpeg)
    output.format_of(arguments.output)
    encoder = encoders.encoder_of(arguments.encoder)
    encoders.check_available(ffmpeg, encoder)
    if arguments.bit_rate:
        encoder = encoders.by_bit_rate(encoder)
    options = [word for text in arguments.input_option for word in _input_words(text)]
    source = open_source(ffmpeg, ffprobe, arguments.input, arguments.vfilter, options)
    if not arguments.partial:
        refuse_parts(source.video, ACCEPTED)
    settings = crf.settings_of(arguments, encoder, source.video, source.pictures, source.colour)
    settings = replace(settings, hdr=source.hdr)
    targets = [Target.parse(text) for text in arguments.target]
    scoring = _scoring_of(arguments, ffmpeg, ffprobe, source, targets)
    sound = output.Sound(
        arguments.acodec,
        arguments.downmix_to_stereo,
        tuple(encoders.option_pair(text) for text in arguments.audio_option),
    )
    without = output.KINDS if arguments.video_only else arguments.without
    layout = output.layout_of(ffprobe, source.video, arguments.output, encoder.codec, sound, without)
    container = "mpegts" if encoder.codec == "vvc" else "nut"
    job = Job(scoring, source, settings, container, arguments.partial)
    for line in _lines_before(job, layout):
        note(line)
    return _Encoding(arguments, job, layout, targets, guard).run()


def _input_words(text: str) -> tuple[str, ...]:
    try:
        return tuple(word for word in _ffmpeg.option_words(text) if word != _ffmpeg.FLAG)
    except ValueError as error:
        raise Failure(f"--input-option: {error}", 2) from None


def _scoring_of(
    arguments: argparse.Namespace, ffmpeg: str, ffprobe: str, source: Source, targets: Sequence[Target]
) -> _scoring.Settings:
    """Returns how the whole is scored: at one size, as the search does, so that its promise can be kept."""
    here = Size(source.pictures.width, source.pictures.height)
    model, size = crf.model_and_size(arguments, here, source.pictures)
    metrics = dict.fromkeys(target.facts.metric for target in targets if target.facts.metric)
    needs_model = not targets or any(target.facts.metric is None for target in targets)
    return _scoring.Settings(
        ffmpeg,
        ffprobe,
        models=(model,) if needs_model else (),
        features=tuple(f"name={metric}" for metric in metrics),
        backend="hip" if arguments.device and arguments.backend == "auto" else arguments.backend,
        device=arguments.device,
        threads=arguments.threads,
        scale=str(size) if size else "reference",
        convert=arguments.convert,
    )


def _lines_before(job: Job, layout: output.Layout) -> list[str]:
    """Returns what the user should know before a long encode."""
    lines = list(layout.left_out)
    before, behind = job.source.pictures.pix_fmt, job.settings.pix_fmt or job.source.pictures.pix_fmt
    if encoders.has_alpha(before) and not encoders.has_alpha(behind):
        lines.append(f"{job.source.video.name} has alpha ({before}), and the encode does not ({behind})")
    for name in job.source.lost:
        lines.append(f"{job.source.video.name} has {name}, which FFmpeg's encoders do not write: the encode has none")
    if job.source.hdr != Hdr() and not job.settings.writes_hdr:
        told = f"{job.settings.encoder.name} does not write the HDR metadata of {job.source.video.name}"
        lines.append(f"{told}: the encode keeps its colour tags alone. libx264, libx265 and libsvtav1 do")
    if grain := job.settings.film_grain:
        lines.append(f"the scores are of pictures without the film grain that {grain} has decoders add")
    return lines


# -- The run -----------------------------------------------------------------------------------------------------------


@dataclass
class _Plan:
    """The result of the search."""

    quantizer: float
    outcome: Outcome | None = None
    scenes: Sequence[Scene] = ()


class _Encoding:
    """A run of the command."""

    def __init__(
        self, arguments: argparse.Namespace, job: Job, layout: output.Layout, targets: Sequence[Target], guard: Guard
    ) -> None:
        self._arguments, self._job, self._layout = arguments, job, layout
        self._targets, self._guard = targets, guard
        self._processes = Processes()

    def run(self) -> int:
        path = self._arguments.output
        folder = Path(os.path.realpath(path)).parent
        try:
            with tempfile.TemporaryDirectory(prefix=f"{path.name[:100]}.", suffix=".part", dir=folder) as own:
                return self._run(Path(own))
        except OSError as error:
            raise Failure(f"cannot write {shown(path)}: {error.strerror}") from error

    def _run(self, folder: Path) -> int:
        self._try(folder)
        plan = self._search(folder)
        if plan is None:
            return crf.UNREACHED
        encoded = self._encode(plan, folder)
        path = self._arguments.output
        with whole_file(path, self._guard) as part:
            ffmpeg, source, layout = self._job.scoring.ffmpeg, self._job.source, self._layout
            with progress() as bar:
                output.write(ffmpeg, source, layout, encoded.path, part, self._tag(plan), bar.show, self._processes)
            found = output.problems(self._job.scoring.ffprobe, source, layout, part, encoded)
            if found and not self._arguments.partial:
                told = "\n  ".join(map(shown, found))
                raise Failure(f"the encode is not as it should be, so {shown(path)} is not written:\n  {told}")
            for line in found:
                note(line)
            encoded.path.unlink()
        return self._report(plan, encoded)

    def _try(self, folder: Path) -> None:
        """Encodes and writes the first pictures, so that wrong options end the command before the search."""
        encoder = self._job.settings.encoder
        quantizer = self._arguments.crf
        if quantizer is None:
            quantizer = encoder.rounded((encoder.first + encoder.last) / 2)
        elif not encoder.first <= quantizer <= encoder.last:
            raise Failure(f"--crf {quantizer:g}: {encoder.name} takes {encoder.first:g} to {encoder.last:g}", 2)
        part = Part(0, TRIAL_FRAMES, 0.0, 0.04)
        job, layout, trial = self._job, self._layout, folder / f"trial{self._arguments.output.suffix}"
        encoded = encode_scored(job, quantizer, folder / "trial", part=part, processes=self._processes)
        try:
            output.write(job.scoring.ffmpeg, job.source, layout, encoded.path, trial, self._tag(None), seconds=TRIAL_S)
        except Failure as failure:
            told = f"the format {layout.format} does not hold all streams: --acodec encodes audio, --without leaves out"
            raise Failure(f"{failure}\n  {told}", failure.status) from None
        if lost := output.lost_kinds(job.scoring.ffprobe, layout, trial):
            told = f"the format {layout.format} does not hold all streams of {job.source.video.name}"
            raise Failure(f"{told}: --without {lost[0]} leaves out what is lost ({', '.join(lost)})")
        for path in (encoded.path, trial):
            path.unlink()
        for line in encoded.notes:
            note(line.replace(", as --scale says", ""))

    def _search(self, folder: Path) -> _Plan | None:
        """Returns what to encode; None if no quantizer reaches the targets, which is said."""
        arguments, job = self._arguments, self._job
        if arguments.crf is not None:
            return _Plan(job.settings.encoder.rounded(arguments.crf))
        video = job.source.video
        options = crf.options_of(arguments, job.scoring.ffmpeg, video, job.source.pictures, job.settings)
        with crf.Shown(arguments, job.settings, self._targets) as shown_search:
            outcome = search(video, job.settings, self._targets, options, shown_search.probe)
        shown_search.result(outcome)
        if arguments.per_scene:
            return _Plan(outcome.quantizer, outcome, self._settle(outcome.quantizer, folder))
        return _Plan(outcome.quantizer, outcome) if outcome.reached else None

    def _encode(self, plan: _Plan, folder: Path) -> Encoded:
        path = folder / "video"
        if not plan.scenes:
            with progress() as bar:
                return encode_scored(self._job, plan.quantizer, path, bar.show, processes=self._processes)
        if self._mode() == "zones":
            return self._encode_zones(plan, path)
        return self._join(plan, path)

    # -- Scenes

    def _mode(self) -> str:
        word = str(self._arguments.per_scene)
        zones = self._job.settings.encoder.zones
        if word == "zones" and not zones:
            raise Failure(f"{self._job.settings.encoder.name} has no zones: use --per-scene=chunks", 2)
        return word if word != "auto" else "zones" if zones else "chunks"

    def _slack(self, encoded: Encoded, part: Part | None = None) -> float:
        """Returns how far an encode, or a part of it, is above its worst target, on the scales of losses."""
        slacks = []
        for target in self._targets:
            column = encoded.scores.scores[target.facts.key]
            scores = column[part.first : part.first + part.frames] if part else column
            slacks.append(target.loss(target.value) - target.loss(target.pooled(scores)))
        return min(slacks)

    def _settle(self, start: float, folder: Path) -> list[Scene]:
        """Finds the scenes, and a quantizer for each."""
        whole = self._mode() == "chunks"
        job = replace(self._job, settings=replace(self._job.settings, closed=True)) if whole else self._job
        found = [Scene(part) for part in scenes.find_scenes(job, self._arguments.scene_threshold)]
        jobs = self._arguments.jobs or scenes.usual_jobs()

        def settle(scene: Scene) -> None:
            scenes.settle(job, scene, self._slack, start, folder, whole, self._processes)
            self._tell_scene(scene)

        scenes.in_parallel(jobs, settle, found, self._processes)
        return found

    def _tell_scene(self, scene: Scene) -> None:
        encoder, part = self._job.settings.encoder, scene.part
        if self._arguments.json:
            told = {"first_frame": part.first, "last_frame": part.last, "time": part.time}
            emit(json.dumps({"scene": {**told, "quantizer": scene.quantizer, "reached": scene.reached}}) + "\n")
            return
        missed = "" if scene.reached else ", which reaches no target"
        words = (
            f"{encoder.quantizer} {encoder.number(scene.quantizer)} after {counted(len(scene.probes), 'probe')}{missed}"
        )
        emit(f"scene at {time_text(part.time)}, {counted(part.frames, 'frame')}: {words}\n")

    def _encode_zones(self, plan: _Plan, path: Path) -> Encoded:
        """Encodes all with zones, and once more with better ones as long as scenes miss their targets."""
        encoder = self._job.settings.encoder
        for left in reversed(range(scenes.MOST_WHOLES)):
            zones = scenes.zones_of(encoder, plan.scenes, plan.quantizer)
            job = replace(self._job, settings=replace(self._job.settings, zones=zones))
            with progress() as bar:
                encoded = encode_scored(job, plan.quantizer, path, bar.show, processes=self._processes)
            missed = [(scene, slack) for scene in plan.scenes if (slack := self._slack(encoded, scene.part)) < 0]
            if not missed or not left:
                break
            for scene, slack in missed:
                scene.correct(encoder, slack)
            if not self._arguments.json:
                told = f"{len(missed)} of {len(plan.scenes)} scenes miss their targets in the whole"
                emit(f"{told}: all is encoded once more\n")
        return encoded

    def _join(self, plan: _Plan, path: Path) -> Encoded:
        """Joins the scenes, and scores what came of it."""
        job = self._job
        parts = [scene.encoded for scene in plan.scenes if scene.encoded]
        scenes.joined(job.scoring.ffmpeg, plan.scenes, job.container, path)
        for part in parts:
            part.path.unlink()
        with progress() as bar:
            encoded = score_file(job, plan.quantizer, path, bar.show, self._processes)
        return replace(encoded, damage=[text for part in parts for text in part.damage])

    # -- The result

    def _tag(self, plan: _Plan | None) -> str:
        """Returns the text by which the output tells how it was made."""
        settings = self._job.settings
        quantizer = f"{settings.encoder.quantizer} {settings.encoder.number(plan.quantizer)}" if plan else ""
        by_scene = "per scene " if plan and plan.scenes else ""
        return f"{settings.described()} {by_scene}{quantizer}".strip()

    def _report(self, plan: _Plan, encoded: Encoded) -> int:
        rows, missed, results = [], [], {}
        for target in self._targets or [Target.parse(UNASKED)]:
            value = target.pooled(encoded.scores.scores[target.facts.key])
            promised = plan.outcome.scores.get(target.name) if plan.outcome and not plan.scenes else None
            if self._targets and not _is_kept(target, value, promised):
                missed.append(f"{target.name} is {value:.3f}, but {_promise(target, promised)}")
            results[target.name] = {"score": value, "target": target.value if self._targets else None}
            if promised:
                results[target.name] |= {"low": promised.low, "high": promised.high}
            rows.append(self._row(target, value, promised, encoded))
        by_scene = self._report_scenes(plan, encoded) if plan.scenes else {}
        missed += by_scene.pop("missed", [])
        if self._arguments.json:
            self._emit_json(plan, encoded, results, missed, by_scene)
        else:
            print_table(["score", "target", "promised", "whole", "worst", "at"], rows, texts=1)
            emit(f"{self._size_line(encoded)}\n")
            for line in by_scene.get("lines", []):
                emit(f"{line}\n")
        for line in missed:
            note(line)
        return crf.UNREACHED if missed else 0

    def _row(self, target: Target, value: float, promised: Estimate | None, encoded: Encoded) -> list[str]:
        decimals = decimals_of(value)
        column = encoded.scores.scores[target.facts.key]
        worst = (min if target.facts.high_is_good else max)(range(len(column)), key=column.__getitem__)
        return [
            target.name,
            f"{target.value:g}" if self._targets else "–",
            crf.interval_text(promised) if promised else "–",
            f"{value:.{decimals}f}",
            f"{column[worst]:.{decimals}f}",
            time_text(encoded.scores.position(worst)),
        ]

    def _size_line(self, encoded: Encoded) -> str:
        path = self._arguments.output
        size, before = path.stat().st_size, os.stat(self._arguments.input).st_size
        seconds = self._job.source.seconds
        rate = f", video {encoded.bytes * 8 / seconds / 1000:.0f} kbit/s" if seconds else ""
        part = f"{100 * size / max(before, 1):.0f} % of the input"
        return f"{shown(path)}: {counted(encoded.frames, 'frame')}, {crf.size_text(size)} ({part}){rate}"

    def _report_scenes(self, plan: _Plan, encoded: Encoded) -> dict[str, Any]:
        encoder = self._job.settings.encoder
        slacks = [self._slack(encoded, scene.part) for scene in plan.scenes]
        bad = [scene for scene, slack in zip(plan.scenes, slacks) if slack < 0]
        quantizers = [scene.quantizer for scene in plan.scenes]
        worst = min(quantizers) if encoder.higher_is_worse else max(quantizers)
        one = sum(scene.bytes_at(worst) for scene in plan.scenes)
        own = sum(scene.bytes_at(scene.quantizer) for scene in plan.scenes)
        saved = 100 * (1 - own / one)
        low, high = (encoder.number(bound) for bound in (min(quantizers), max(quantizers)))
        told = f"{len(plan.scenes)} scenes with {encoder.quantizer} {low} to {high}"
        estimate = f"about {saved:.1f} % less than {encoder.quantizer} {encoder.number(worst)} for all, which the worst"
        lines = [f"{told}: {estimate} scene needs"]
        missed = []
        if bad:
            times = ", ".join(time_text(scene.part.time) for scene in bad[:5]) + (", …" if len(bad) > 5 else "")
            missed.append(f"{len(bad)} of {len(plan.scenes)} scenes miss their targets: those at {times}")
        return {"lines": lines, "missed": missed, "scenes": len(plan.scenes), "saved_percent": saved, "one": worst}

    def _emit_json(
        self, plan: _Plan, encoded: Encoded, results: dict[str, Any], missed: list[str], by_scene: dict[str, Any]
    ) -> None:
        told: dict[str, Any] = {
            "file": str(self._arguments.output),
            "bytes": self._arguments.output.stat().st_size,
            "video_bytes": encoded.bytes,
            "frames": encoded.frames,
            "encoder": self._job.settings.encoder.name,
            "quantizer": plan.quantizer,
            "settings": self._job.settings.described(),
            "scores": results,
            "pooled": {key: pooled_values(encoded.scores, key) for key in (t.facts.key for t in self._targets)},
            "missed": missed,
        }
        if plan.scenes:
            told["scenes"] = {
                "number": len(plan.scenes),
                "list": [self._scene_as_json(scene, encoded) for scene in plan.scenes],
                "one_quantizer": by_scene["one"],
                "saved_percent": by_scene["saved_percent"],
            }
        emit(json.dumps({"encode": told}) + "\n")

    def _scene_as_json(self, scene: Scene, encoded: Encoded) -> dict[str, Any]:
        """Returns the quantizer of a scene, and its scores in the whole."""
        part, columns = scene.part, encoded.scores.scores
        scores = {
            target.name: target.pooled(columns[target.facts.key][part.first : part.last + 1])
            for target in self._targets
        }
        told = {"first_frame": part.first, "last_frame": part.last, "time": part.time}
        return {**told, "quantizer": scene.quantizer, "scores": scores}


def _is_kept(target: Target, value: float, promised: Estimate | None) -> bool:
    """Returns whether the whole is no worse than its target and the interval that was promised."""
    if target.is_reached(value) or promised is None:
        return target.is_reached(value)
    return value >= promised.low if target.facts.high_is_good else value <= promised.high


def _promise(target: Target, promised: Estimate | None) -> str:
    told = f"the target is {target.value:g}"
    return f"{told}, and {crf.interval_text(promised)} was promised" if promised else told
