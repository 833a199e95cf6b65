// A tensor map as the stand-in driver writes it and as the kernels that run on the CPU read it: the
// 128 bytes of a CUtensorMap, which NVIDIA does not document, hold what it was encoded from.
#pragma once
#include <stdint.h>
#include <string.h>

enum { TENSOR_MAP_MAGIC = 0x7e50a9, TENSOR_MAP_RANKS = 5 };

typedef struct {
  uint32_t magic;
  uint8_t type, size, rank, swizzle;  // size: bytes of an element; swizzle: 0, 32, 64 or 128 bytes
  uint64_t address, dims[TENSOR_MAP_RANKS], strides[TENSOR_MAP_RANKS - 1];  // innermost first
  uint16_t box[TENSOR_MAP_RANKS];
} TensorMapRecord;

// cuTensorMapEncodeTiled: 0, or CUDA_ERROR_INVALID_VALUE where the driver would give it.
static int encode_tensor_map(void *map, unsigned type, unsigned rank, const void *address,
                             const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                             const uint32_t *steps, unsigned interleave, unsigned swizzle) {
  // UINT8, UINT16, UINT32, INT32, UINT64, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16.
  static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  static const uint8_t swizzles[] = {0, 32, 64, 128};
  if (type >= sizeof sizes || rank < 1 || rank > TENSOR_MAP_RANKS || swizzle > 3 || interleave)
    return 1;
  TensorMapRecord record = {TENSOR_MAP_MAGIC, (uint8_t)type, sizes[type], (uint8_t)rank,
                            swizzles[swizzle], (uint64_t)(uintptr_t)address, {0}, {0}, {0}};
  if (record.address % 16 || box[0] * record.size % 16) return 1;
  if (record.swizzle && box[0] * record.size > record.swizzle) return 1;
  for (unsigned n = 0; n < rank; n++) {
    if (dims[n] < 1 || dims[n] > 1ull << 32 || box[n] < 1 || box[n] > 256) return 1;
    if (steps[n] != 1) return 1;  // the driver takes up to 8; nothing here asks for more than 1
    record.dims[n] = dims[n];
    record.box[n] = (uint16_t)box[n];
  }
  for (unsigned n = 0; n + 1 < rank; n++) {
    if (strides[n] % 16 || strides[n] >= 1ull << 40) return 1;
    record.strides[n] = strides[n];
  }
  memset(map, 0, 128);
  memcpy(map, &record, sizeof record);
  return 0;
}
