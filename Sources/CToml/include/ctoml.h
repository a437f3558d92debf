/// A C face of toml++, as small as the configuration needs: bytes in, a list of nodes out.
///
/// No exception leaves these functions, and nothing is written. The strings of nodes and errors
/// belong to the document and live as long as it does.

#ifndef CTOML_H
#define CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a node is. Dates and times are told apart, and their values are left out: no setting has
/// one.
typedef enum __attribute__((enum_extensibility(closed))) ctoml_kind {
    ctoml_kind_table,
    ctoml_kind_array,
    ctoml_kind_string,
    ctoml_kind_integer,
    ctoml_kind_floating,
    ctoml_kind_boolean,
    ctoml_kind_date,
    ctoml_kind_time,
    ctoml_kind_datetime,
} ctoml_kind;

/// Where something begins, both numbers from 1. Columns count code points.
typedef struct ctoml_position {
    uint32_t line;
    uint32_t column;
} ctoml_position;

/// UTF-8 of `count` bytes, which may hold NUL. No terminator is promised.
typedef struct ctoml_text {
    const char *_Nullable bytes;
    size_t count;
} ctoml_text;

/// One value of the document.
typedef struct ctoml_node {
    ctoml_kind kind;
    /// Where the value begins; of a table with a header, its bracket.
    ctoml_position position;
    /// The key and where it stands; empty, at 0:0, for elements of arrays and for the root.
    ctoml_text key;
    ctoml_position key_position;
    /// How many nodes lie directly in this table or array. They follow it, each with its own.
    size_t children;
    ctoml_text string;
    int64_t integer;
    /// 0 or 1.
    int32_t boolean;
    double floating;
} ctoml_node;

/// Why a document could not be parsed.
typedef struct ctoml_error {
    ctoml_position position;
    ctoml_text text;
} ctoml_error;

typedef struct ctoml_document ctoml_document;

/// Parses `count` bytes of UTF-8. The answer holds either nodes or an error, and is freed with
/// `ctoml_free`; NULL means that memory ran out.
///
/// Values may be nested 32 levels deep. The caller limits `count`: time and memory grow with it.
ctoml_document *_Nullable ctoml_parse(const uint8_t *_Nullable bytes, size_t count);

/// Nothing may be used of the document afterwards.
void ctoml_free(ctoml_document *_Nullable document);

/// The error, or NULL where the document was parsed.
const ctoml_error *_Nullable ctoml_document_error(const ctoml_document *_Nonnull document);

/// The node at `index`, the root first, each followed by its children. Members of a table are in
/// the order of their keys. An index past the end gives an empty table.
ctoml_node ctoml_document_node(const ctoml_document *_Nonnull document, size_t index);

#ifdef __cplusplus
}
#endif

#endif
