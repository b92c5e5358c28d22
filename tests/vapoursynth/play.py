"""Plays jobs by VapourSynth, in a process of its own: play.py PLUGIN… <jobs.json >results.json.

A job has raw clips, calls of plugins, and the order in which frames are asked for; "all" plays them with several in
flight. Its result is what each frame's properties are, or the error that the call raised.
"""

import ctypes
import json
import sys
from pathlib import Path

import vapoursynth as vs

core = vs.core


def height_of(frame, plane):
    return frame.height >> (plane and frame.format.subsampling_h)


def row_bytes(frame, plane):
    return (frame.width >> (plane and frame.format.subsampling_w)) * frame.format.bytes_per_sample


def clip_of(path, job, format):
    """Returns a clip of the frames of a raw file, with no properties but those of the job."""
    blank = core.std.BlankClip(
        format=format, width=job["width"], height=job["height"], length=job["frames"], fpsnum=job["fps"], fpsden=1
    )
    blank = core.std.RemoveFrameProps(blank)
    data = Path(path).read_bytes()

    def fill(n, f):
        frame = f.copy()
        place = n * len(data) // job["frames"]
        for plane in range(format.num_planes):
            first, stride = frame.get_write_ptr(plane).value, frame.get_stride(plane)
            for y in range(height_of(frame, plane)):
                row = row_bytes(frame, plane)
                ctypes.memmove(first + y * stride, data[place : place + row], row)
                place += row
        for name, value in job.get("properties", {}).items():
            frame.props[name] = value
        return frame

    return core.std.ModifyFrame(blank, blank, fill)


def kept(clip):
    """Returns the same clip with its frames in memory, so that it is read fast and often."""
    frames = [frame.copy() for frame in clip.frames()]
    return core.std.ModifyFrame(clip.std.BlankClip(keep=True), clip.std.BlankClip(keep=True), lambda n, f: frames[n])


def scores_of(frame):
    return {name: value for name, value in frame.props.items() if isinstance(value, float)}


def asked(clip, order):
    if order == "all":
        return {n: scores_of(frame) for n, frame in enumerate(clip.frames(prefetch=4, backlog=8))}
    return {n: scores_of(clip.get_frame(n)) for n in order}


def write_as(clip, path, format):
    """Writes what the plugin makes of RGB and floats, by the same resizer."""
    to = {"matrix": vs.MATRIX_BT709, "range_s": "limited"} if clip.format.color_family == vs.RGB else {}
    with open(path, "wb") as file:
        for frame in clip.resize.Bicubic(format=getattr(vs, format), **to).frames():
            for plane in range(frame.format.num_planes):
                first, stride = frame.get_read_ptr(plane).value, frame.get_stride(plane)
                for y in range(height_of(frame, plane)):
                    file.write(ctypes.string_at(first + y * stride, row_bytes(frame, plane)))


def played(job):
    core.num_threads = job.get("threads", 4)
    clips = {}
    for name in "ref", "dist":
        clips[name] = kept(clip_of(job[name], job, core.get_video_format(getattr(vs, job["format"]))))
        if "converted" in job:
            write_as(clips[name], job[name] + ".converted", job["converted"])
    results = []
    for call in job["calls"]:
        try:
            function = getattr(getattr(core, call["plugin"]), call["function"])
            clip = function(
                eval_clip(clips["ref"], call, "ref"), eval_clip(clips["dist"], call, "dist"), **call["arguments"]
            )
            results.append({"frames": asked(clip, call["order"]), "format": clip.format.name})
        except vs.Error as error:
            results.append({"error": str(error)})
    return results


def eval_clip(clip, call, name):
    """Applies what a call does to a clip before it is scored."""
    change = call.get(name, "")
    if change == "shorter":
        return clip[:-1]
    if change == "smaller":
        return clip.std.Crop(right=16)
    if change == "10 bits":
        return clip.resize.Bicubic(format=vs.YUV420P10)
    if change == "variable":
        return core.std.Splice([clip, clip.std.Crop(right=16)], mismatch=True)
    if change == "4:1:1":
        return clip.resize.Bicubic(format=vs.YUV411PS)
    if change == "4:4:0":
        return clip.resize.Bicubic(format=vs.YUV440P8)
    return clip


for plugin in sys.argv[1:]:
    core.std.LoadPlugin(plugin)
json.dump([played(job) for job in json.load(sys.stdin)], sys.stdout)
