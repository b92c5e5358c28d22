/* vmafx.h compiles alone, as C, and links from C; header, library and package say the same version. */
#include "vmafx/vmafx.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

int main(void)
{
    VmafxOptions *options = vmafx_options_new();
    char version[32];
    const char *commit;

    snprintf(version, sizeof(version), "%d.%d.%d", VMAFX_VERSION_MAJOR, VMAFX_VERSION_MINOR, VMAFX_VERSION_PATCH);
    commit = vmafx_version() + strlen(version); /* of a build from a git checkout */
    if (strncmp(version, vmafx_version(), strlen(version)) || strcmp(version, PACKAGE_VERSION))
        return 1;
    if (*commit && *commit != '-')
        return 1;
    if (!options || vmafx_options_set(options, "n_subsample", "2") || vmafx_open(NULL, options) >= 0)
        return 1;
    vmafx_options_free(&options);
    vmafx_close(NULL);
    printf("100%%: Checks: 1, Failures: 0, Errors: 0\n");
    return 0;
}
