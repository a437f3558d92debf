/*
 * zlib as Swift sees it: the decoder of gzip (RFC 1952). inflateInit2 is a macro, which Swift cannot
 * call.
 */
#define ZLIB_CONST
#include <zlib.h>

/* Begins to decode gzip and nothing else. A window of 2^15 bytes is the largest that deflate has. */
static inline int gzip_begin(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}

/* How far a call came: zlib's code, the bytes that were taken, and the bytes that were made. */
struct gzip_step {
    int code;
    size_t taken;
    size_t made;
};

/* Decodes until the input is used up, the room is full, or a member has ended. zlib would keep both
 * pointers for the next call: they are taken away again. */
static inline struct gzip_step gzip_decode(
    z_stream *stream, const void *input, size_t count, void *output, size_t room) {
    stream->next_in = input;
    stream->avail_in = (uInt)count;
    stream->next_out = output;
    stream->avail_out = (uInt)room;
    int code = inflate(stream, Z_NO_FLUSH);
    struct gzip_step step = {code, count - stream->avail_in, room - stream->avail_out};
    stream->next_in = NULL;
    stream->next_out = NULL;
    return step;
}
