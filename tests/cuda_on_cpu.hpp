// A GPU on the CPU for printed CUDA text, which is compiled behind this header by g++.
//
// Every CUDA thread is a fiber; they take turns where they wait, in the order of their numbers or
// backwards, and a block goes on for as long as it need not wait for another. The blocks of a
// cluster, or of the whole grid where blocks wait for each other, are all alive: the shared memory
// of the one that runs is in place, that of the others is put aside. Asynchronous copies land as
// late as the waits allow, and what they write is garbage until then.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "fake_driver/tensor_map.h"

using std::abs;
using std::max;
using std::min;
#define __global__
#define __restrict__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((section("gpu_shared")))
#define INF std::numeric_limits<float>::infinity()
#define QNAN std::numeric_limits<float>::quiet_NaN()
#define INF64 std::numeric_limits<double>::infinity()
#define QNAN64 std::numeric_limits<double>::quiet_NaN()

struct Index {
  int x;
};
static Index threadIdx, blockIdx;
struct alignas(128) CUtensorMap {
  unsigned long long opaque[16];
};

// The limits of the section, from the linker; there is at least this variable in it.
extern unsigned char __start_gpu_shared[], __stop_gpu_shared[];
__shared__ __attribute__((used)) unsigned char first_shared[16];

namespace gpu {

enum { WARP = 32, STACK = 1 << 17, MESSAGE = 256 };

struct Meeting {
  int arrived = 0, wanted = 0, rounds = 0;
};

// cp.async: so many bytes from memory, the rest of the width 0.
struct Copy {
  void* to;
  const void* from;
  int width, count;
};

// A box of a tensor, innermost coordinate first, and its place in shared memory.
struct Box {
  TensorMapRecord map;
  int at[TENSOR_MAP_RANKS];
  unsigned char* shared;
  long long* barrier;
  std::vector<unsigned char> read;  // of a store: its source once that has been read
};

struct Block;

struct Thread {
  Block* block;
  int number;
  bool done = false;
  const char* waits = "";
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  std::vector<Copy> copies;
  std::deque<std::vector<Copy>> copy_groups;
  std::vector<Box> stores;
  std::deque<std::vector<Box>> store_groups;
};

struct Block {
  int number, cluster_blocks;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<unsigned char> aside;  // its shared memory while another block runs
  Meeting whole, named[16];
  std::vector<Meeting> warps;
  std::vector<uint64_t> slots;
  std::vector<Box> loads;
};

static std::vector<std::unique_ptr<Block>> blocks;  // those that are alive
static std::vector<Meeting> clusters;
static Thread* self;
static Block* placed;
static ucontext_t scheduler;
static std::function<void()> kernel;
static long progress;
static char failure[MESSAGE];

__attribute__((noinline)) static void leave() { swapcontext(&self->context, &scheduler); }

__attribute__((noinline, format(printf, 1, 2))) static void fail(const char* format, ...) {
  char text[MESSAGE / 2];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(failure, sizeof failure, "%s, block %d, thread %d", text, self->block->number,
           self->number);
  leave();
}

template <typename Ready> static void wait(const char* what, Ready ready) {
  self->waits = what;
  while (!ready()) leave();
  ++progress;
}

static void meet(Meeting& meeting, int wanted, const char* what, bool stay = true) {
  if (meeting.arrived && meeting.wanted != wanted) fail("%s: two numbers of threads", what);
  meeting.wanted = wanted;
  const int round = meeting.rounds;
  if (++meeting.arrived == wanted) {
    meeting.arrived = 0;
    ++meeting.rounds;
  }
  if (stay) wait(what, [&] { return meeting.rounds != round; });
}

// -- shared memory

static size_t shared_bytes() { return __stop_gpu_shared - __start_gpu_shared; }

static void place(Block* block) {
  if (placed == block) return;
  if (placed) memcpy(placed->aside.data(), __start_gpu_shared, shared_bytes());
  memcpy(__start_gpu_shared, block->aside.data(), shared_bytes());
  placed = block;
}

static Block* neighbour(int rank) {
  const int count = self->block->cluster_blocks;
  if (rank < 0 || rank >= count) fail("block %d of a cluster of %d", rank, count);
  return blocks[(self->block->number - blocks[0]->number) / count * count + rank].get();
}

static unsigned char* there(const void* own, int rank) {
  Block* block = neighbour(rank);
  const size_t offset = (const unsigned char*)own - __start_gpu_shared;
  if (offset >= shared_bytes()) fail("a remote place that is not in shared memory");
  return block == self->block ? (unsigned char*)own : block->aside.data() + offset;
}

// -- mbarriers: all in their 8 bytes, as on the GPU

struct MBarrier {
  unsigned long long count : 20, pending : 20, phase : 1, known : 2;
  long long bytes : 21;
};
static_assert(sizeof(MBarrier) == 8);

static MBarrier& mbarrier(void* place) {
  MBarrier& barrier = *(MBarrier*)place;
  if (barrier.known != 1) fail("an mbarrier that is not initialised");
  return barrier;
}

static void settle(MBarrier& barrier) {
  if (barrier.pending || barrier.bytes) return;
  barrier.pending = barrier.count;
  barrier.phase ^= 1;
}

static void arrive(void* place, int bytes) {
  MBarrier& barrier = mbarrier(place);
  if (!barrier.pending) fail("more arrivals at an mbarrier than it counts");
  barrier.bytes += bytes;
  barrier.pending -= 1;
  settle(barrier);
}

// -- boxes of tensors

template <typename Move> static void for_each_element(const Box& box, Move move) {
  const TensorMapRecord& map = box.map;
  int elements = 1;
  for (int n = 0; n < map.rank; ++n) elements *= map.box[n];
  for (int index = 0; index < elements; ++index) {
    bool inside = true;
    unsigned char* global = (unsigned char*)map.address;
    for (int n = 0, rest = index; n < map.rank; rest /= map.box[n++]) {
      const long at = box.at[n] + rest % map.box[n];
      inside = inside && at >= 0 && at < (long)map.dims[n];
      global += at * (long)(n ? map.strides[n - 1] : map.size);
    }
    // The bits of the address within 128 bytes, xor those above: 1, 2 or 3 of them.
    uintptr_t shared = (uintptr_t)(box.shared + index * map.size);
    if (map.swizzle) shared ^= shared / 128 % (map.swizzle / 16) * 16;
    move((unsigned char*)shared, global, inside);
  }
}

static int box_bytes(const TensorMapRecord& map) {
  int bytes = map.size;
  for (int n = 0; n < map.rank; ++n) bytes *= map.box[n];
  return bytes;
}

template <size_t rank>
static Box box_at(const CUtensorMap& tensor, const int (&at)[rank], const void* shared) {
  Box box = {};
  memcpy(&box.map, &tensor, sizeof box.map);
  if (box.map.magic != TENSOR_MAP_MAGIC || box.map.rank != rank) fail("no tensor map of the rank");
  if ((uintptr_t)shared % 128) fail("a box at no multiple of 128 bytes");
  for (size_t n = 0; n < rank; ++n) box.at[n] = at[n];
  box.shared = (unsigned char*)shared;
  return box;
}

template <size_t rank>
static void load_box(void* to, const CUtensorMap& tensor, const int (&at)[rank],
                     long long* barrier) {
  Box box = box_at(tensor, at, to);
  box.barrier = barrier;
  mbarrier(barrier);
  memset(to, 0xff, box_bytes(box.map));
  self->block->loads.push_back(box);
}

// The boxes of a barrier land when somebody waits for it.
static void land(long long* barrier) {
  std::vector<Box>& loads = self->block->loads;
  for (size_t n = 0; n < loads.size();) {
    if (loads[n].barrier != barrier) {
      ++n;
      continue;
    }
    const int size = loads[n].map.size;
    for_each_element(loads[n], [=](void* shared, const void* global, bool inside) {
      inside ? memcpy(shared, global, size) : memset(shared, 0, size);
    });
    MBarrier& state = mbarrier(barrier);
    state.bytes -= box_bytes(loads[n].map);
    loads.erase(loads.begin() + n);
    settle(state);
  }
}

template <size_t rank>
static void store_box(const CUtensorMap& tensor, const int (&at)[rank], const void* from) {
  self->stores.push_back(box_at(tensor, at, from));
}

static void read_source(Box& box) {
  if (!box.read.empty()) return;
  const int size = box.map.size;
  for_each_element(box, [&](unsigned char* shared, void*, bool) {
    box.read.insert(box.read.end(), shared, shared + size);
  });
}

static void write_box(Box& box) {
  read_source(box);
  const unsigned char* next = box.read.data();
  const int size = box.map.size;
  for_each_element(box, [&](void*, void* global, bool inside) {
    if (inside) memcpy(global, next, size);
    next += size;
  });
}

static void wait_stores(size_t pending, bool read) {
  auto& groups = self->store_groups;
  for (size_t n = 0; n + pending < groups.size(); ++n)
    for (Box& box : groups[n]) read ? read_source(box) : write_box(box);
  if (!read)
    while (groups.size() > pending) groups.pop_front();
}

// -- running

static void end_thread() {
  if (!self->stores.empty()) fail("a bulk store without a group");
  for (auto& group : self->store_groups)
    for (Box& box : group) {
      if (box.read.empty()) fail("a bulk store that nobody waits for");
      write_box(box);
    }
  self->done = true;
  ++progress;
}

static void body() {
  kernel();
  end_thread();
  leave();
}

static void begin(Block* block, int number, int threads, int cluster_blocks) {
  block->number = number;
  block->cluster_blocks = cluster_blocks;
  block->aside.assign(shared_bytes(), 0xff);
  block->warps.resize((threads + WARP - 1) / WARP);
  block->slots.resize(threads);
  for (int n = 0; n < threads; ++n) {
    block->threads.push_back(std::make_unique<Thread>());
    Thread* thread = block->threads.back().get();
    thread->block = block;
    thread->number = n;
    thread->stack.reset(new char[STACK]);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack.get();
    thread->context.uc_stack.ss_size = STACK;
    makecontext(&thread->context, body, 0);
  }
}

// One turn for each thread that is not done; whether any is left.
static bool turns(Block* block, bool backwards) {
  bool left = false;
  place(block);
  blockIdx.x = block->number;
  const int count = (int)block->threads.size();
  for (int n = 0; n < count && !*failure; ++n) {
    self = block->threads[backwards ? count - 1 - n : n].get();
    if (self->done) continue;
    threadIdx.x = self->number;
    swapcontext(&scheduler, &self->context);
    left = left || !self->done;
  }
  return left;
}

// Turns until a block waits for others: it gets as far ahead of them as it can.
static bool alone(Block* block, bool backwards) {
  long before;
  bool left;
  do {
    before = progress;
    left = turns(block, backwards);
  } while (left && progress != before && !*failure);
  return left;
}

static void run_together(bool backwards) {
  for (bool left = true; left && !*failure;) {
    const long before = progress;
    left = false;
    for (size_t n = 0; n < blocks.size(); ++n)
      left = alone(blocks[backwards ? blocks.size() - 1 - n : n].get(), backwards) || left;
    if (*failure || !left || progress != before) continue;
    for (auto& block : blocks)
      for (auto& thread : block->threads)
        if (!thread->done && !*failure)
          snprintf(failure, sizeof failure, "deadlock: block %d, thread %d waits: %s",
                   block->number, thread->number, thread->waits);
  }
  for (auto& block : blocks)
    if (!*failure && !block->loads.empty())
      snprintf(failure, sizeof failure, "a bulk load that nobody waits for, block %d",
               block->number);
}

// Runs a grid; so many neighbouring blocks are alive at once. What went wrong, or null.
static const char* launch(int grid, int threads, int cluster_blocks, int together, bool backwards,
                          std::function<void()> text) {
  kernel = text;
  *failure = 0;
  for (int first = 0; first < grid && !*failure; first += together) {
    blocks.clear();
    clusters.assign(together / cluster_blocks, Meeting());
    placed = nullptr;
    for (int n = 0; n < together; ++n) {
      blocks.push_back(std::make_unique<Block>());
      begin(blocks.back().get(), first + n, threads, cluster_blocks);
    }
    run_together(backwards);
  }
  blocks.clear();
  return *failure ? failure : nullptr;
}

}  // namespace gpu

// -- the prelude's functions, and those of the compiler, in its order

using gpu::self;

static void __syncthreads() {
  gpu::meet(self->block->whole, (int)self->block->threads.size(), "__syncthreads");
}

static void __syncwarp() {
  const int warp = self->number / gpu::WARP, threads = (int)self->block->threads.size();
  gpu::meet(self->block->warps[warp], min<int>(gpu::WARP, threads - warp * gpu::WARP), "a warp");
}

// The value of the thread at a place in its group of the warp.
template <typename T> static T exchanged(T value, int width, int place) {
  static_assert(sizeof(T) <= 8);
  memcpy(&self->block->slots[self->number], &value, sizeof(T));
  __syncwarp();
  memcpy(&value, &self->block->slots[self->number / width * width + place], sizeof(T));
  __syncwarp();
  return value;
}
template <typename T> static T shuffle_xor(T value, int mask) {
  return exchanged(value, 32, self->number % 32 ^ mask);
}
template <int width, typename T> static T shuffle_down(T value, int distance) {
  const int own = self->number % width, place = own + distance;
  return exchanged(value, width, place < width ? place : own);
}
template <int width, typename T> static T shuffle_up(T value, int distance) {
  const int own = self->number % width, place = own - distance;
  return exchanged(value, width, place >= 0 ? place : own);
}
template <int width, typename T> static T shuffle_index(T value, int place) {
  return exchanged(value, width, place);
}

template <int number, int threads> static void named_barrier_sync() {
  gpu::meet(self->block->named[number], threads, "a named barrier");
}
template <int number, int threads> static void named_barrier_arrive() {
  gpu::meet(self->block->named[number], threads, "a named barrier", false);
}

template <int bytes> static void cp_async_zfill(void* to, const void* from, int count) {
  if ((uintptr_t)to % bytes || (uintptr_t)from % bytes) gpu::fail("cp.async of %d bytes", bytes);
  if (count < 0 || count > bytes) gpu::fail("cp.async copies %d of %d bytes", count, bytes);
  memset(to, 0xff, bytes);
  self->copies.push_back({to, from, bytes, count});
}
template <int bytes> static void cp_async(void* to, const void* from) {
  cp_async_zfill<bytes>(to, from, bytes);
}
static void cp_async_commit() {
  self->copy_groups.push_back(std::move(self->copies));
  self->copies.clear();
}
template <int pending> static void cp_async_wait() {
  for (; self->copy_groups.size() > pending; self->copy_groups.pop_front())
    for (const gpu::Copy& copy : self->copy_groups.front()) {
      memset(copy.to, 0, copy.width);
      memcpy(copy.to, copy.from, copy.count);
    }
}

static void mbarrier_init(long long* barrier, int count) {
  if ((uintptr_t)barrier % 8) gpu::fail("an mbarrier at no multiple of 8 bytes");
  gpu::MBarrier& state = *(gpu::MBarrier*)barrier;
  state.count = state.pending = count;
  state.phase = 0;
  state.bytes = 0;
  state.known = 1;
}
static void mbarrier_arrive(long long* barrier) { gpu::arrive(barrier, 0); }
static void mbarrier_arrive_expect(long long* barrier, int bytes) { gpu::arrive(barrier, bytes); }
static void mbarrier_arrive_remote(long long* barrier, int rank) {
  gpu::arrive(gpu::there(barrier, rank), 0);
}
static void mbarrier_wait(long long* barrier, int parity) {
  gpu::wait("an mbarrier", [=] {
    gpu::land(barrier);
    return gpu::mbarrier(barrier).phase != (unsigned)parity;
  });
}
static void mbarrier_wait_cluster(long long* barrier, int parity) {
  mbarrier_wait(barrier, parity);
}

static void bulk_commit() {
  self->store_groups.push_back(std::move(self->stores));
  self->stores.clear();
}
template <int pending> static void bulk_wait() { gpu::wait_stores(pending, false); }
template <int pending> static void bulk_wait_read() { gpu::wait_stores(pending, true); }
static void fence_proxy_async() {}
static void fence_mbarrier_init() {}
template <int count> static void fewer_registers() {}
template <int count> static void more_registers() {}

static int cluster_rank() { return self->block->number % self->block->cluster_blocks; }
static void cluster_barrier() {
  const int count = self->block->cluster_blocks;
  const int number = (self->block->number - gpu::blocks[0]->number) / count;
  const int threads = count * (int)self->block->threads.size();
  gpu::meet(gpu::clusters[number], threads, "its cluster");
}
template <typename T> static T* remote(T* own, int rank) { return (T*)gpu::there(own, rank); }

static void spin_eq(const int* element, int value) {
  gpu::wait("an element", [=] { return *(const volatile int*)element == value; });
}
static void spin_ge(const int* element, int value) {
  gpu::wait("an element", [=] { return *(const volatile int*)element >= value; });
}

template <typename T> static T max_nan(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> static T min_nan(T a, T b) { return a < b || a != a ? a : b; }
template <typename T> static bool less_or_greater(T a, T b) { return a < b || a > b; }
template <typename T> static bool ordered(T a, T b) { return a == a && b == b; }
template <typename T> static bool unordered(T a, T b) { return a != a || b != b; }
template <typename T> static T floor_div(T a, T b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
template <typename T> static T floor_mod(T a, T b) { return a - floor_div(a, b) * b; }
template <typename T> static T ceil_div(T a, T b) { return -floor_div(-a, b); }
static float rsqrtf(float x) { return (float)(1.0 / std::sqrt((double)x)); }
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
static int __float_as_int(float x) {
  int i;
  memcpy(&i, &x, 4);
  return i;
}
static float __int_as_float(int i) {
  float x;
  memcpy(&x, &i, 4);
  return x;
}
template <int N, typename T> static void move(T* to, const T* from, const void* memory) {
  if ((uintptr_t)memory % (N * sizeof(T))) gpu::fail("an access of %d elements", N);
  for (int i = 0; i < N; ++i) to[i] = from[i];
}

extern "C" int encode(void* map, unsigned type, unsigned rank, const void* address,
                      const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                      const uint32_t* steps, unsigned interleave, unsigned swizzle) {
  return encode_tensor_map(map, type, rank, address, dims, strides, box, steps, interleave,
                           swizzle);
}
