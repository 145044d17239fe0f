/* One pass over a text: counts, hashed buckets, and the sums of their weights. The reference is ../scan.py; a test
 * holds the two to the same numbers. No allocation, no state: safe from any thread. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
    ABI = 1,
    BITS_MAX = 18,
    PIECE = 4,
    PIECES_UP_TO = 32,
    LONG_WORD = 8,
    SHORT_WORD = 3,
    MARKS = 21,
    BASE = 13,
    FIRST_MARK = BASE,
    FIRST_CLASS = BASE + MARKS,
};
#define PAIR_SALT 0x5BD1E995u
#define MIX 2654435761u
#ifndef SW_SOURCES
#define SW_SOURCES ""
#endif

static const char MARK[MARKS + 1] = "?,.\n\"(=+$%/*^|:;-_{<'";

struct sw_scan {
    /* in */
    const float *weights;      /* per bucket: strong head, weak head, square of its rarity; may be NULL */
    const uint32_t *words;     /* CRC-32 of the words that have classes, ascending */
    const uint32_t *classes;   /* their bits */
    const uint32_t *crc;       /* table of CRC-32, 256 entries */
    uint32_t word_count;
    uint32_t bits;
    uint32_t *buckets;         /* out, may be NULL: distinct buckets in order */
    uint64_t bucket_room;
    /* out */
    double sums[3];            /* over distinct buckets */
    int32_t counts[64];
    uint64_t bucket_count;
};

struct pass {
    struct sw_scan *scan;
    uint64_t seen[(1u << BITS_MAX) / 64];
};

static uint32_t crc32_of(const uint32_t *table, const uint8_t *text, size_t length, uint32_t start) {
    uint32_t code = ~start;
    for (size_t i = 0; i < length; i++) code = table[(code ^ text[i]) & 0xff] ^ (code >> 8);
    return ~code;
}

/* Returns 1 when the bucket is new. */
static int add(struct pass *pass, uint32_t code) {
    struct sw_scan *scan = pass->scan;
    uint32_t bucket = (uint32_t)(code * MIX) >> (32 - scan->bits);
    uint64_t bit = 1ull << (bucket & 63);
    if (pass->seen[bucket >> 6] & bit) return 0;
    pass->seen[bucket >> 6] |= bit;
    if (scan->buckets && scan->bucket_count < scan->bucket_room) scan->buckets[scan->bucket_count] = bucket;
    scan->bucket_count++;
    if (scan->weights) {
        const float *weight = scan->weights + 3u * (size_t)bucket;
        scan->sums[0] += weight[0];
        scan->sums[1] += weight[1];
        scan->sums[2] += weight[2];
    }
    return 1;
}

static void add_pieces(struct pass *pass, const uint8_t *word, size_t length) {
    uint8_t marked[PIECES_UP_TO + 2];
    if (length > PIECES_UP_TO) length = PIECES_UP_TO;
    marked[0] = '<';
    memcpy(marked + 1, word, length);
    marked[length + 1] = '>';
    length += 2;
    if (length < PIECE) {
        add(pass, crc32_of(pass->scan->crc, marked, length, PIECE));
        return;
    }
    for (size_t i = 0; i + PIECE <= length; i++) add(pass, crc32_of(pass->scan->crc, marked + i, PIECE, PIECE));
}

static void add_classes(struct sw_scan *scan, uint32_t code) {
    uint32_t low = 0, high = scan->word_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (scan->words[middle] < code) low = middle + 1;
        else high = middle;
    }
    if (low == scan->word_count || scan->words[low] != code) return;
    for (uint32_t bits = scan->classes[low]; bits; bits &= bits - 1) scan->counts[FIRST_CLASS + __builtin_ctz(bits)]++;
}

static void count_bytes(struct sw_scan *scan, const uint8_t *text, size_t length) {
    int32_t of[256] = {0};
    size_t first = length, last = 0;
    int a = 0, b = 0;
    for (size_t i = 0; i < length; i++) {
        of[text[i]]++;
        if (text[i] != '\n') continue;
        if (first == length) first = i;
        last = i + 1;
        if (i + 2 < length && text[i + 2] == '.') {
            a |= text[i + 1] == 'A';
            b |= text[i + 1] == 'B';
        }
    }
    int32_t *counts = scan->counts;
    counts[0] = (int32_t)length;
    for (int c = '0'; c <= '9'; c++) counts[7] += of[c];
    for (int c = 'A'; c <= 'Z'; c++) counts[8] += of[c];
    for (int c = 128; c < 256; c++) counts[9] += of[c];
    counts[10] = a + b;
    counts[11] = (int32_t)first;
    counts[12] = (int32_t)(length - last);
    for (int m = 0; m < MARKS; m++) counts[FIRST_MARK + m] = of[(uint8_t)MARK[m]];
}

API int sw_scan_abi(void) { return ABI; }
API const char *sw_scan_sources(void) { return SW_SOURCES; }
API uint64_t sw_scan_size(void) { return sizeof(struct sw_scan); }

/* `text` is scanned in lower case that `lowered` (room for `length` bytes) takes. 0, or -1 for arguments out of range. */
API int sw_scan_text(struct sw_scan *scan, const uint8_t *text, uint64_t length, uint8_t *lowered) {
    struct pass pass;
    if (scan->bits < 8 || scan->bits > BITS_MAX || length > 0x7fffffff) return -1;
    memset(pass.seen, 0, ((size_t)1 << scan->bits) / 8);
    pass.scan = scan;
    memset(scan->sums, 0, sizeof scan->sums);
    memset(scan->counts, 0, sizeof scan->counts);
    scan->bucket_count = 0;
    count_bytes(scan, text, length);
    for (size_t i = 0; i < length; i++) {
        uint8_t c = text[i];
        if (c >= 'A' && c <= 'Z') c += 32;
        else if (i && text[i - 1] == 0xc3 && c >= 0x80 && c <= 0x9e && c != 0x97) c += 32;
        lowered[i] = c;
    }
    int32_t *counts = scan->counts;
    uint32_t before = 0;
    for (size_t i = 0; i < length;) {
        size_t start = i;
        while (i < length && ((lowered[i] >= 'a' && lowered[i] <= 'z') || (lowered[i] >= '0' && lowered[i] <= '9') ||
                              lowered[i] >= 128))
            i++;
        size_t size = i - start;
        if (!size) {
            i++;
            continue;
        }
        const uint8_t *word = lowered + start;
        uint32_t code = crc32_of(scan->crc, word, size, 0);
        counts[2] += (int32_t)size;
        counts[3] += size >= LONG_WORD;
        counts[4] += size <= SHORT_WORD;
        counts[6] += word[0] >= '0' && word[0] <= '9';
        add_classes(scan, code);
        if (add(&pass, code)) {
            counts[5]++;
            add_pieces(&pass, word, size);
        }
        if (counts[1]) add(&pass, crc32_of(scan->crc, word, size, before ^ PAIR_SALT));
        before = code;
        counts[1]++;
    }
    return 0;
}
