/// A C face of RE2, as small as conditions need: is there a match of this expression in this text?
///
/// No exception leaves it, and nothing is written. Time is linear in the text, and memory limited,
/// whatever the expression is.

#ifndef CRE2_H
#define CRE2_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum __attribute__((enum_extensibility(closed))) cre2_result {
    cre2_result_found,
    cre2_result_missing,
    /// The expression is none, or one that takes more memory than the limit.
    cre2_result_refused,
    /// The search would take more steps than the limit.
    cre2_result_too_costly,
} cre2_result;

/// Looks for a match of an expression anywhere in a text; both are UTF-8 and may hold NUL.
///
/// `memory` limits the bytes that the compiled expression and the search may take. `steps` is the
/// limit of steps, and becomes the steps that were taken: about 10 ns each, the same on each host. Where
/// the expression is refused, the cause is written to `error`, cut to `error_size` with its NUL.
cre2_result cre2_search(const char *_Nonnull pattern, size_t pattern_count,
                        const char *_Nonnull text, size_t text_count, int64_t memory,
                        int64_t *_Nonnull steps, char *_Nonnull error, size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
