/* vmafx.h compiles alone, as C, and links from C. */
#include "vmafx/vmafx.h"

#include <stdio.h>

int main(void)
{
    VmafxParams params;
    vmafx_default_params(&params);
    if (params.n_subsample != 1 || params.model || vmafx_open(NULL, &params) >= 0)
        return 1;
    vmafx_close(NULL);
    printf("100%%: Checks: 1, Failures: 0, Errors: 0\n");
    return 0;
}
