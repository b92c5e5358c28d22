/* Clips: what the plugin is given, as the library takes it. */
#ifndef VMAFX_VAPOURSYNTH_CLIPS_H
#define VMAFX_VAPOURSYNTH_CLIPS_H

#include <VapourSynth4.h>

#include <optional>
#include <string>

#include "vapoursynth/any_order.h"

namespace vapoursynth {

/* A node, which is freed. */
class Node {
 public:
  Node(VSNode* node, const VSAPI* api) : node_(node), api_(api) {}
  Node(Node&& other) noexcept : node_(std::exchange(other.node_, nullptr)), api_(other.api_) {}
  Node& operator=(Node&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Node() { api_->freeNode(node_); }

  VSNode* get() const { return node_; }
  const VSVideoInfo& info() const { return *api_->getVideoInfo(node_); }
  Node again() const { return {api_->addNodeRef(node_), api_}; }

 private:
  VSNode* node_;
  const VSAPI* api_;
};

/* Both clips, in YUV of integers, which RGB and floats are converted to. */
struct Clips {
  Node ref, dist;
};

/* Takes the arguments `reference` and `distorted`. On failure returns nullopt, with a message that says what to do. */
std::optional<Clips> take_clips(const VSMap* in, VSCore* core, const VSAPI* api, std::string* message);

/* The format of a clip, and the colors that its first frame has. On failure the message is not empty. */
VmafxFormat format_of(const Node& node, const char* name, const VSAPI* api, std::string* message);

/* A frame as a picture, which frees the frame. */
Picture picture_of(const VSFrame* frame, const VSAPI* api);

}  // namespace vapoursynth

#endif
