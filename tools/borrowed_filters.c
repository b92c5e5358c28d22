/*
 * Filters of the distribution's libavfilter in another one, which has only ours and FFmpeg's own graph code.
 *
 * tools/build-filter ends the generated libavfilter/filter_list.c with this, in a source of the same release and
 * version as the distribution's library. Both libraries then have the same structs, and all that FFmpeg knows of a
 * filter is in structs: a filter of the one runs in a graph of the other.
 *
 * Defined before: FFMPEG_INSTALLED, the version of the distribution's FFmpeg; LIBAVFILTER_INSTALLED, the path of its
 * library; filter_list, our filters, with room for all of its own and a NULL.
 */
#include <dlfcn.h>
#include <string.h>

#define MOST_FILTERS (sizeof(filter_list) / sizeof(*filter_list) - 1)

/* As of FFmpeg 8, the list has FFFilters: structs that begin with an AVFilter. */
static const AVFilter *listed_filter(size_t i)
{
    return (const void *)filter_list[i];
}

static const AVFilter *(*installed_filters(void))(void **opaque)
{
    const char *installed = av_version_info();
    void *library = NULL, *iterate = NULL;

    if (strcmp(installed, FFMPEG_INSTALLED)) {
        av_log(NULL, AV_LOG_ERROR, "vmafx: this libavfilter was built for ffmpeg %s, and ffmpeg %s is installed: "
               "most filters are missing until './quickstart build' is run again in vmafx's sources\n",
               FFMPEG_INSTALLED, installed);
        return NULL;
    }
    library = dlopen(LIBAVFILTER_INSTALLED, RTLD_NOW | RTLD_LOCAL);
    if (library)
        iterate = dlsym(library, "av_filter_iterate");
    if (!iterate)
        av_log(NULL, AV_LOG_ERROR, "vmafx: most filters are missing, as the distribution's libavfilter cannot be "
               "loaded: %s\n", dlerror());
    return (const AVFilter *(*)(void **))iterate;
}

/* Before main(), and so before anything asks for a filter. Ours come first, and hide others of their names. */
static __attribute__((constructor)) void borrow_filters(void)
{
    const AVFilter *(*iterate)(void **opaque) = installed_filters();
    const AVFilter *filter;
    void *state = NULL;
    size_t ours = 0, all;

    if (!iterate)
        return;
    while (filter_list[ours])
        ours++;
    for (all = ours; all < MOST_FILTERS && (filter = iterate(&state));) {
        size_t i = 0;
        while (i < ours && strcmp(listed_filter(i)->name, filter->name))
            i++;
        if (i == ours)
            filter_list[all++] = (const void *)filter;
    }
}
