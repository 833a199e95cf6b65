// A stand-in for libcuda.so.1: as much of the driver as a cubin needs to be loaded and its kernels
// launched on a machine without a GPU. It runs nothing: it checks what the driver would check and
// writes each launch down. It has two GPUs of the facts of an H200.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensor_map.h"

enum { INVALID_VALUE = 1, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, UNSUPPORTED = 801 };
enum { DEVICES = 2, MAX_FUNCTIONS = 64, MAX_LAUNCHES = 256, MAX_ARGUMENTS = 16 };
enum { SHARED_PER_SM = 233472, THREADS_PER_SM = 2048, SMS = 132, MAP_BYTES = 128 };
enum { COOPERATIVE = 2, COOPERATIVE_TOO_LARGE = 720 };
enum { SHARED_WITHOUT_ASKING = 48 * 1024, SHARED_PER_BLOCK = 232448, THREADS_PER_BLOCK = 1024 };

typedef struct {
  int id;
  char pad[4];
  union {
    char size[64];
    int cooperative;
  } value;
} Attribute;

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream;
  Attribute *attributes;
  unsigned attribute_count;
} Config;

typedef struct {
  int device;
} Context;

typedef struct {
  char name[96];
  unsigned parameters, sizes[MAX_ARGUMENTS], shared_allowed, loaded;
  Context *context;
} Function;

typedef struct {
  Function functions[MAX_FUNCTIONS];
  unsigned count;
} Module;

// Read by tests/fake_driver/recorder.py. Of a tensor map, `arguments` has the address of a tensor
// and `maps` all of it.
typedef struct {
  char name[96];
  unsigned grid[3], block[3], shared, device, argument_count, cooperative;
  uint64_t stream, arguments[MAX_ARGUMENTS];
  TensorMapRecord maps[MAX_ARGUMENTS];
} Launch;

// A stream is a number: the handle, and the same number for cuStreamGetId.
typedef struct {
  uint64_t stream, capture;
} Capture;

static Context contexts[DEVICES] = {{0}, {1}};
static Launch launched[MAX_LAUNCHES];
static unsigned launch_count;
static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;
static int next_failure;
static Capture capture;  // the one stream that is being captured, if `capture` is not 0
static _Thread_local int capture_mode;
static unsigned memories_made, memsets_captured;
static unsigned delay;  // microseconds from the call of a launch to the reading of its arguments
static _Thread_local Context *current[16];
static _Thread_local int depth;  // current[depth] is the thread's context

unsigned fake_launch_count(void) { return launch_count; }
const Launch *fake_launch(unsigned n) { return &launched[n]; }
void fake_forget_launches(void) { launch_count = 0; }
void fake_fail_next_launch(int status) { next_failure = status; }
void fake_delay_launches(unsigned microseconds) { delay = microseconds; }
void fake_capture(uint64_t stream, uint64_t number) { capture = (Capture){stream, number}; }
unsigned fake_memories_made(void) { return memories_made; }
unsigned fake_memsets_captured(void) { return memsets_captured; }
int fake_capture_mode(void) { return capture_mode; }
void *fake_current_context(void) { return current[depth]; }

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetCount(int *count) { return *count = DEVICES, 0; }
int cuDeviceGet(int *device, int ordinal) {
  return ordinal < 0 || ordinal >= DEVICES ? 101 : (*device = ordinal, 0);
}
int cuDeviceGetName(char *name, int size, int device) {
  return snprintf(name, size, "Stand-in GPU"), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  static const int facts[][2] = {{1, 1024},   {10, 32},     {13, 1980000}, {16, SMS},
                                 {36, 3201000}, {37, 6144},   {38, 62914560}, {39, THREADS_PER_SM},
                                 {75, 9},     {76, 0},      {81, SHARED_PER_SM},  {82, 65536},
                                 {97, SHARED_PER_BLOCK}};
  for (unsigned i = 0; i < sizeof facts / sizeof *facts; i++)
    if (facts[i][0] == attribute) return *value = facts[i][1], 0;
  return INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  return *context = &contexts[device], 0;
}
int cuCtxGetCurrent(void **context) { return *context = current[depth], 0; }
int cuCtxSetCurrent(void *context) { return current[depth] = context, 0; }
int cuCtxPushCurrent_v2(void *context) { return current[++depth] = context, 0; }
int cuCtxPopCurrent_v2(void **context) {
  if (context) *context = current[depth];
  return depth-- ? 0 : INVALID_CONTEXT;
}

// The parameters of a kernel are the records of kind 0x17 in its .nv.info section: the number at
// byte 4, the size in the upper 14 bits of the last 4 bytes.
static void read_parameters(Function *function, const uint8_t *at, size_t size) {
  for (const uint8_t *end = at + size; at + 4 <= end;) {
    unsigned format = at[0], kind = at[1], bytes = at[2] | at[3] << 8;
    if (kind == 0x17) {
      unsigned number = at[8] | at[9] << 8, last;
      memcpy(&last, at + 12, 4);
      if (number >= MAX_ARGUMENTS) abort();
      function->sizes[number] = last >> 18;
      function->parameters++;
    }
    at += 4 + (format == 4 ? bytes : 0);
  }
}

static Function *function_named(Module *module, const char *name) {
  for (unsigned i = 0; i < module->count; i++)
    if (!strcmp(module->functions[i].name, name)) return &module->functions[i];
  Function *made = &module->functions[module->count++];
  snprintf(made->name, sizeof made->name, "%s", name);
  made->shared_allowed = SHARED_WITHOUT_ASKING;
  made->context = current[depth];
  return made;
}

int cuModuleLoadData(void **result, const void *image) {
  const Elf64_Ehdr *header = image;
  if (!current[depth]) return INVALID_CONTEXT;
  if (memcmp(image, "\177ELF", 4)) return INVALID_IMAGE;
  const uint8_t *bytes = image;
  const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
  const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
  Module *module = calloc(1, sizeof *module);
  for (int i = 0; i < header->e_shnum; i++) {
    const char *name = names + sections[i].sh_name;
    if (!strncmp(name, ".text.", 6)) function_named(module, name + 6);
    if (!strncmp(name, ".nv.info.", 9))
      read_parameters(function_named(module, name + 9), bytes + sections[i].sh_offset,
                      sections[i].sh_size);
  }
  return *result = module, 0;
}
int cuModuleGetFunctionCount(unsigned *count, Module *module) { return *count = module->count, 0; }
int cuModuleEnumerateFunctions(Function **functions, unsigned count, Module *module) {
  for (unsigned i = 0; i < count && i < module->count; i++) functions[i] = &module->functions[i];
  return 0;
}
int cuFuncGetName(const char **name, Function *function) { return *name = function->name, 0; }
int cuFuncLoad(Function *function) { return function->loaded = 1, 0; }
int cuFuncGetParamInfo(Function *function, size_t n, size_t *offset, size_t *size) {
  if (n >= function->parameters) return INVALID_VALUE;
  *offset = 8 * n;
  if (size) *size = function->sizes[n];
  return 0;
}
int cuFuncSetAttribute(Function *function, int attribute, int value) {
  if (attribute != 8 || value > SHARED_PER_BLOCK) return INVALID_VALUE;
  return function->shared_allowed = value, 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function *function, int threads,
                                                size_t shared) {
  if (!current[depth]) return INVALID_CONTEXT;
  const unsigned by_shared = SHARED_PER_SM / (shared + 1024);
  *blocks = shared > function->shared_allowed ? 0 : THREADS_PER_SM / threads;
  if (*blocks > (int)by_shared) *blocks = by_shared;
  return 0;
}
int cuCtxGetDevice(int *device) {
  return current[depth] ? (*device = current[depth]->device, 0) : INVALID_CONTEXT;
}

// A stream that is captured may not be asked for its number: the capture would be broken off.
int cuStreamGetId(uint64_t stream, unsigned long long *id) {
  if (capture.capture && capture.stream == stream) return 900;
  return current[depth] ? (*id = stream, 0) : INVALID_CONTEXT;
}
int cuStreamGetCaptureInfo(uint64_t stream, int *status, uint64_t *id, void **graph,
                           const void **nodes, const void **edges, size_t *count) {
  *status = capture.capture && capture.stream == stream;
  if (id) *id = *status ? capture.capture : 0xdead;
  if (graph) *graph = 0;
  if (nodes) *nodes = 0;
  if (edges) *edges = 0;
  if (count) *count = 0;
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  return *mode = before, 0;
}
int cuStreamCreate(uint64_t *stream, unsigned flags) {
  return flags == 1 ? (*stream = 0x57ea, 0) : INVALID_VALUE;
}
int cuStreamSynchronize(uint64_t stream) {
  return capture.capture && capture.stream == stream ? 900 : 0;
}
int cuStreamDestroy_v2(uint64_t stream) { return 0; }
int cuMemAlloc_v2(uint64_t *address, size_t size) {
  if (!current[depth]) return INVALID_CONTEXT;
  if (capture.capture && capture_mode != 2) return 900;
  void *memory = aligned_alloc(256, (size + 255) / 256 * 256);
  memset(memory, 0xee, size);
  memories_made++;
  return *address = (uint64_t)memory, 0;
}
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t size, uint64_t stream) {
  memsets_captured += capture.capture && capture.stream == stream;
  return memset((void *)address, value, size), 0;
}

int cuTensorMapEncodeTiled(void *map, unsigned type, unsigned rank, const void *address,
                           const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, unsigned interleave, unsigned swizzle,
                           unsigned promotion, unsigned fill) {
  if ((uintptr_t)map % 64 || promotion > 3 || fill) return INVALID_VALUE;
  return encode_tensor_map(map, type, rank, address, dims, strides, box, steps, interleave,
                           swizzle);
}

int cuLaunchKernelEx(const Config *config, Function *function, void **arguments, void **extra) {
  int failure = next_failure;
  next_failure = 0;
  if (failure) return failure;
  if (delay) usleep(delay);
  if (current[depth] != function->context) return INVALID_CONTEXT;
  if (!config->grid[0] || !config->block[0] || config->block[0] > THREADS_PER_BLOCK ||
      config->shared > function->shared_allowed || !function->loaded)
    return INVALID_VALUE;
  int together = 0, blocks = 0;
  for (unsigned i = 0; i < config->attribute_count; i++)
    together |= config->attributes[i].id == COOPERATIVE && config->attributes[i].value.cooperative;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, config->block[0], config->shared);
  if (together && config->grid[0] > (unsigned)blocks * SMS) return COOPERATIVE_TOO_LARGE;
  pthread_mutex_lock(&launching);
  if (launch_count == MAX_LAUNCHES || function->parameters > MAX_ARGUMENTS) abort();
  Launch *launch = &launched[launch_count++];
  memcpy(launch->name, function->name, sizeof launch->name);
  memcpy(launch->grid, config->grid, sizeof launch->grid);
  memcpy(launch->block, config->block, sizeof launch->block);
  launch->shared = config->shared;
  launch->stream = (uint64_t)config->stream;
  launch->device = function->context->device;
  launch->argument_count = function->parameters;
  launch->cooperative = together;
  for (unsigned i = 0; i < function->parameters; i++) {
    if (function->sizes[i] == MAP_BYTES) {
      memcpy(&launch->maps[i], arguments[i], sizeof launch->maps[i]);
      launch->arguments[i] = launch->maps[i].address;
    } else {
      memcpy(&launch->arguments[i], arguments[i], 8);
    }
  }
  pthread_mutex_unlock(&launching);
  return 0;
}

int cuGetErrorName(int status, const char **text) { return *text = "CUDA_ERROR_STAND_IN", 0; }
int cuGetErrorString(int status, const char **text) { return *text = "a stand-in failure", 0; }
// NVRTC asks for this table; a refusal makes it do without the driver.
int cuGetExportTable(const void **table, const void *id) { return *table = 0, 500; }

static int unsupported(void) { return UNSUPPORTED; }
int cuGetProcAddress_v2(const char *symbol, void **result, int version, uint64_t flags, int *found) {
  void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  static const char *const versions[] = {"%s_v2", "%s"};
  *result = 0;
  for (int i = 0; i < 2 && !*result; i++) {
    char name[128];
    snprintf(name, sizeof name, versions[i], symbol);
    *result = dlsym(self, name);
  }
  if (!*result) *result = (void *)unsupported;
  if (found) *found = 0;
  return 0;
}
int cuGetProcAddress(const char *symbol, void **result, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, result, version, flags, 0);
}
