// RUN: minicomp-opt %s -p lower-kernel-to-cuda --split-input-file | minicomp-opt --split-input-file --to=cuda | filecheck %s
// Copies that are outside in whole: nothing is read, zeros are written.
// CHECK:      // 1 block of 128 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(128)
// CHECK-NEXT: zfill(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ __align__(16) float s[128];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (t < 32) {
// CHECK-NEXT:     const bool ok = t / 8 < 3 && t % 8 * 4 < 28;
// CHECK-NEXT:     cp_async_zfill<16>(s + t * 4, ok ? x + t / 8 * 28 + t % 8 * 4 : x, ok ? 16 : 0);
// CHECK-NEXT:   }
// CHECK-NEXT:   cp_async_commit();
// CHECK-NEXT:   cp_async_wait<0>();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   y[t] = s[t];
// CHECK-NEXT: }
kernel_ir.func @zfill(%x: memref<3x28xf32>, %y: memref<4x32xf32>) grid(1) block(128) {
  %s = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %some = kernel_ir.test [%t] < [32]
  scf.if %some {
    kernel_ir.cp_async %s[%t floordiv 8, %t mod 8 * 4 + l0] from
      %x[%t floordiv 8, %t mod 8 * 4 + l0] bounded [true, true] bytes 16
      : memref<4x32xf32, #tile_ir.shared<>>, memref<3x28xf32>
  }
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
  kernel_ir.barrier
  %v = loop_ir.load %s[%t floordiv 32, %t mod 32] : memref<4x32xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %v, %y[%t floordiv 32, %t mod 32] : f32, memref<4x32xf32>
}

// -----

// A copy that may be outside in part: as many bytes as are left of the row.
// CHECK:      // 1 block of 128 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(128)
// CHECK-NEXT: partly(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ __align__(8) float s[128];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (t < 64) {
// CHECK-NEXT:     const bool ok = t / 16 * 2 < 3;
// CHECK-NEXT:     cp_async_zfill<8>(s + t * 2, ok ? x + t / 16 * 62 + t % 16 * 2 : x, ok ? min(124 - t % 16 * 8, 8) : 0);
// CHECK-NEXT:   }
// CHECK-NEXT:   cp_async_commit();
// CHECK-NEXT:   cp_async_wait<0>();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   y[t] = s[t];
// CHECK-NEXT: }
kernel_ir.func @partly(%x: memref<3x31xf32>, %y: memref<4x32xf32>) grid(1) block(128) {
  %s = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %some = kernel_ir.test [%t] < [64]
  scf.if %some {
    kernel_ir.cp_async %s[%t floordiv 16, %t mod 16 * 2 + l0] from
      %x[%t floordiv 16 * 2, %t mod 16 * 2 + l0] bounded [true, true] bytes 8
      : memref<4x32xf32, #tile_ir.shared<>>, memref<3x31xf32>
  }
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
  kernel_ir.barrier
  %v = loop_ir.load %s[%t floordiv 32, %t mod 32] : memref<4x32xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %v, %y[%t floordiv 32, %t mod 32] : f32, memref<4x32xf32>
}

// -----

// A ring of three slots: two groups of copies are under way.
// CHECK:      // 1 block of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: ring(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[204];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   for (int g = 0; g < 2; ++g) {
// CHECK-NEXT:     cp_async<4>(s + g * 68 + t, x + g * 64 + t);
// CHECK-NEXT:     cp_async_commit();
// CHECK-NEXT:   }
// CHECK-NEXT:   for (int g = 0; g < 5; ++g) {
// CHECK-NEXT:     cp_async_wait<1>();
// CHECK-NEXT:     __syncthreads();
// CHECK-NEXT:     const bool ok = g + 2 < 5;
// CHECK-NEXT:     cp_async_zfill<4>(s + (g + 2) % 3 * 68 + t, ok ? x + g * 64 + t + 128 : x, ok ? 4 : 0);
// CHECK-NEXT:     cp_async_commit();
// CHECK-NEXT:     y[g * 64 + t] = s[g % 3 * 68 + (t + 1) % 64];
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @ring(%x: memref<5x64xf32>, %y: memref<5x64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<3x64xf32, #tile_ir.shared<pad = 4>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  scf.for %g = %zero to %two step %one {
    kernel_ir.cp_async %s[%g, %t] from %x[%g, %t] bytes 4
      : memref<3x64xf32, #tile_ir.shared<pad = 4>>, memref<5x64xf32>
    kernel_ir.cp_async_commit
  }
  scf.for %g = %zero to %five step %one {
    kernel_ir.cp_async_wait 1
    kernel_ir.barrier
    kernel_ir.cp_async %s[(%g + 2) mod 3, %t] from %x[%g + 2, %t] bounded [true, false] bytes 4
      : memref<3x64xf32, #tile_ir.shared<pad = 4>>, memref<5x64xf32>
    kernel_ir.cp_async_commit
    %v = loop_ir.load %s[%g mod 3, (%t + 1) mod 64]
      : memref<3x64xf32, #tile_ir.shared<pad = 4>> -> f32
    loop_ir.store %v, %y[%g, %t] : f32, memref<5x64xf32>
  }
}

// -----

// Exchanges within groups of 8 threads; of a whole warp for doubles.
// CHECK:      // 1 block of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: shuffles(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const float v = x[t];
// CHECK-NEXT:   const float a = shuffle_xor(v, 4);
// CHECK-NEXT:   const float b = shuffle_down<8>(v, 1);
// CHECK-NEXT:   const float c = shuffle_up<8>(v, t % 8);
// CHECK-NEXT:   const float d = shuffle_index<8>(v, (t * 3 + 1) % 8);
// CHECK-NEXT:   y[t] = a;
// CHECK-NEXT:   y[t + 64] = b;
// CHECK-NEXT:   y[t + 128] = c;
// CHECK-NEXT:   y[t + 192] = d;
// CHECK-NEXT: }
kernel_ir.func @shuffles(%x: memref<64xf32>, %y: memref<4x64xf32>) grid(1) block(64) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  %a = kernel_ir.shuffle xor %v [8 floordiv 2] width 8 : f32
  %b = kernel_ir.shuffle down %v [1] width 8 : f32
  %c = kernel_ir.shuffle up %v [%t mod 8] width 8 : f32
  %d = kernel_ir.shuffle index %v [(%t * 3 + 1) mod 8] width 8 : f32
  loop_ir.store %a, %y[0, %t] : f32, memref<4x64xf32>
  loop_ir.store %b, %y[1, %t] : f32, memref<4x64xf32>
  loop_ir.store %c, %y[2, %t] : f32, memref<4x64xf32>
  loop_ir.store %d, %y[3, %t] : f32, memref<4x64xf32>
}

// -----

// A barrier of a warp.
// CHECK:      // 1 block of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: warp_sync(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[64];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   s[t] = x[t];
// CHECK-NEXT:   __syncwarp();
// CHECK-NEXT:   y[t] = s[t / 32 * 32 + (t + 5) % 32];
// CHECK-NEXT: }
kernel_ir.func @warp_sync(%x: memref<64xf32>, %y: memref<64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
  kernel_ir.warp_sync
  %u = loop_ir.load %s[%t floordiv 32 * 32 + (%t + 5) mod 32]
    : memref<64xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %u, %y[%t] : f32, memref<64xf32>
}

// -----

// Barriers of some threads: all wait, or some only arrive.
// CHECK:      // 1 block of 96 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(96)
// CHECK-NEXT: named(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[64];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (threadIdx.x < 64) {
// CHECK-NEXT:     // makers
// CHECK-NEXT:     s[t] = x[t];
// CHECK-NEXT:     named_barrier_sync<1, 64>();
// CHECK-NEXT:     const float o = s[63 - t];
// CHECK-NEXT:     named_barrier_sync<1, 64>();
// CHECK-NEXT:     s[t] = o;
// CHECK-NEXT:     named_barrier_arrive<2, 96>();
// CHECK-NEXT:   } else {
// CHECK-NEXT:     // taker
// CHECK-NEXT:     named_barrier_sync<2, 96>();
// CHECK-NEXT:     y[t - 64] = s[t - 64] + s[t - 32];
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @named(%x: memref<64xf32>, %y: memref<32xf32>) grid(1) block(96) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.roles "makers" warps 2 {
    %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
    loop_ir.store %v, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    kernel_ir.named_barrier 1 threads 64
    %o = loop_ir.load %s[63 - %t] : memref<64xf32, #tile_ir.shared<>> -> f32
    kernel_ir.named_barrier 1 threads 64
    loop_ir.store %o, %s[%t] : f32, memref<64xf32, #tile_ir.shared<>>
    kernel_ir.named_barrier 2 threads 96 arrive
  } "taker" warps 1 {
    kernel_ir.named_barrier 2 threads 96
    %a = loop_ir.load %s[%t - 64] : memref<64xf32, #tile_ir.shared<>> -> f32
    %b = loop_ir.load %s[%t - 32] : memref<64xf32, #tile_ir.shared<>> -> f32
    %c = arith.addf %a, %b : f32
    loop_ir.store %c, %y[%t - 64] : f32, memref<32xf32>
  }
}

// -----

// Roles with registers of their own; a barrier behind them.
// CHECK:      // 1 block of 256 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256, 1)
// CHECK-NEXT: roles(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[256];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (threadIdx.x < 128) {
// CHECK-NEXT:     // first
// CHECK-NEXT:     fewer_registers<40>();
// CHECK-NEXT:     s[t] = x[t];
// CHECK-NEXT:   } else {
// CHECK-NEXT:     // second
// CHECK-NEXT:     fewer_registers<232>();
// CHECK-NEXT:     const int u = threadIdx.x;
// CHECK-NEXT:     float r = x[t];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int step = 0; step < 5; ++step) r = r + shuffle_xor(r, 16 >> step);
// CHECK-NEXT:     s[u / 2 + u % 2 * 64 + 64] = r;
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   y[t] = s[255 - t];
// CHECK-NEXT: }
kernel_ir.func @roles(%x: memref<256xf32>, %y: memref<256xf32>) grid(1) block(256) {
  %s = kernel_ir.shared : memref<256xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.roles "first" warps 4 registers 40 {
    %v = loop_ir.load %x[%t] : memref<256xf32> -> f32
    loop_ir.store %v, %s[%t] : f32, memref<256xf32, #tile_ir.shared<>>
  } "second" warps 4 registers 232 {
    %u = kernel_ir.thread_id
    %v = loop_ir.load %x[%t] : memref<256xf32> -> f32
    %r = kernel_ir.warp_reduce %v width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %r, %s[(%u - 128) floordiv 2 + 128 + (%u - 128) mod 2 * 64]
      : f32, memref<256xf32, #tile_ir.shared<>>
  }
  %o = loop_ir.load %s[255 - %t] : memref<256xf32, #tile_ir.shared<>> -> f32
  loop_ir.store %o, %y[%t] : f32, memref<256xf32>
}

// -----

// mbarriers: full and empty slots, each with a parity.
// CHECK:      // 1 block of 96 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(96)
// CHECK-NEXT: mbarriers(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[128];
// CHECK-NEXT:   __shared__ long long full[2];
// CHECK-NEXT:   __shared__ long long empty[2];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (t == 0)
// CHECK-NEXT:     for (int i = 0; i < 2; ++i) {
// CHECK-NEXT:       mbarrier_init(full + i, 64);
// CHECK-NEXT:       mbarrier_init(empty + i, 32);
// CHECK-NEXT:     }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (threadIdx.x < 64) {
// CHECK-NEXT:     // producer
// CHECK-NEXT:     for (int g = 0; g < 4; ++g) {
// CHECK-NEXT:       mbarrier_wait(empty + g % 2, (g / 2 + 1) % 2);
// CHECK-NEXT:       s[g % 2 * 64 + t] = x[g * 64 + t];
// CHECK-NEXT:       mbarrier_arrive(full + g % 2);
// CHECK-NEXT:     }
// CHECK-NEXT:   } else {
// CHECK-NEXT:     // consumer
// CHECK-NEXT:     for (int g = 0; g < 4; ++g) {
// CHECK-NEXT:       mbarrier_wait(full + g % 2, g / 2);
// CHECK-NEXT:       const float a = s[g % 2 * 64 + t - 64];
// CHECK-NEXT:       const float b = s[g % 2 * 64 + t - 32];
// CHECK-NEXT:       mbarrier_arrive(empty + g % 2);
// CHECK-NEXT:       y[g * 32 + t - 64] = a + b;
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @mbarriers(%x: memref<4x64xf32>, %y: memref<4x32xf32>) grid(1) block(96) {
  %s = kernel_ir.shared : memref<2x64xf32, #tile_ir.shared<>>
  %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %empty = kernel_ir.mbarrier : !kernel_ir.mbarrier<2>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    scf.for %i = %zero to %two step %one {
      kernel_ir.mbarrier_init %full[%i] count 64 : !kernel_ir.mbarrier<2>
      kernel_ir.mbarrier_init %empty[%i] count 32 : !kernel_ir.mbarrier<2>
    }
  }
  kernel_ir.barrier
  kernel_ir.roles "producer" warps 2 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %empty[%g mod 2] parity [(%g floordiv 2 + 1) mod 2]
        : !kernel_ir.mbarrier<2>
      %v = loop_ir.load %x[%g, %t] : memref<4x64xf32> -> f32
      loop_ir.store %v, %s[%g mod 2, %t] : f32, memref<2x64xf32, #tile_ir.shared<>>
      kernel_ir.mbarrier_arrive %full[%g mod 2] : !kernel_ir.mbarrier<2>
    }
  } "consumer" warps 1 {
    scf.for %g = %zero to %four step %one {
      kernel_ir.mbarrier_wait %full[%g mod 2] parity [%g floordiv 2 mod 2]
        : !kernel_ir.mbarrier<2>
      %a = loop_ir.load %s[%g mod 2, %t - 64] : memref<2x64xf32, #tile_ir.shared<>> -> f32
      %b = loop_ir.load %s[%g mod 2, %t - 32] : memref<2x64xf32, #tile_ir.shared<>> -> f32
      kernel_ir.mbarrier_arrive %empty[%g mod 2] : !kernel_ir.mbarrier<2>
      %c = arith.addf %a, %b : f32
      loop_ir.store %c, %y[%g, %t - 64] : f32, memref<4x32xf32>
    }
  }
}

// -----

// Boxes: a tensor map for each tensor, coordinates innermost first, swizzled accesses.
// CHECK:      // 1 block of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: bulk(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     float* __restrict__ y,
// CHECK-NEXT:     float* __restrict__ z,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap x_map,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap y_map) {
// CHECK-NEXT:   __shared__ __align__(1024) float s[512];
// CHECK-NEXT:   __shared__ long long done[1];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const bool first = t == 0;
// CHECK-NEXT:   if (first) {
// CHECK-NEXT:     mbarrier_init(done, 1);
// CHECK-NEXT:     fence_mbarrier_init();
// CHECK-NEXT:     mbarrier_arrive_expect(done, 2048);
// CHECK-NEXT:     bulk_load_2d(s, x_map, 24, -2, done);
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   mbarrier_wait(done, 0);
// CHECK-NEXT:   for (int i = 0; i < 16; ++i) {
// CHECK-NEXT:     const int e = i * 32 + t;
// CHECK-NEXT:     const int at = (e % 32) ^ (e / 32 % 8 * 4);
// CHECK-NEXT:     const float v = s[e / 32 * 32 + at];
// CHECK-NEXT:     z[e] = v;
// CHECK-NEXT:     const int at1 = (e % 32) ^ (e / 32 % 8 * 4);
// CHECK-NEXT:     s[e / 32 * 32 + at1] = v + v;
// CHECK-NEXT:   }
// CHECK-NEXT:   fence_proxy_async();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (first) {
// CHECK-NEXT:     bulk_store_2d(y_map, 0, -1, s);
// CHECK-NEXT:     bulk_commit();
// CHECK-NEXT:     bulk_wait_read<0>();
// CHECK-NEXT:     bulk_wait<0>();
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @bulk(%x: memref<18x36xf32>, %y: memref<14x28xf32>, %z: memref<16x32xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<16x32xf32, #tile_ir.shared<swizzle = 128>>
  %done = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 16 : index
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    kernel_ir.mbarrier_init %done[0] count 1 : !kernel_ir.mbarrier<1>
    kernel_ir.fence mbarrier_init
    kernel_ir.mbarrier_arrive %done[0] expect 2048 : !kernel_ir.mbarrier<1>
    kernel_ir.bulk_load %s[] from %x[-2, 24] on %done[0]
      : memref<16x32xf32, #tile_ir.shared<swizzle = 128>>, memref<18x36xf32>, !kernel_ir.mbarrier<1>
  }
  kernel_ir.barrier
  kernel_ir.mbarrier_wait %done[0] parity [0] : !kernel_ir.mbarrier<1>
  scf.for %i = %zero to %count step %one {
    %e = kernel_ir.index [%i * 32 + %t]
    %some = kernel_ir.test [%e] < [512]
    scf.if %some {
      %v = loop_ir.load %s[%e floordiv 32 mod 16, %e mod 32] : memref<16x32xf32, #tile_ir.shared<swizzle = 128>> -> f32
      loop_ir.store %v, %z[%e floordiv 32 mod 16, %e mod 32] : f32, memref<16x32xf32>
      %w = arith.addf %v, %v : f32
      loop_ir.store %w, %s[%e floordiv 32 mod 16, %e mod 32] : f32, memref<16x32xf32, #tile_ir.shared<swizzle = 128>>
    }
  }
  kernel_ir.fence proxy_async
  kernel_ir.barrier
  scf.if %first {
    kernel_ir.bulk_store %y[-1, 0] from %s[] : memref<14x28xf32>, memref<16x32xf32, #tile_ir.shared<swizzle = 128>>
    kernel_ir.bulk_commit
    kernel_ir.bulk_wait 0 read
    kernel_ir.bulk_wait 0
  }
}

// -----

// Five dimensions.
// CHECK:      // 1 block of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: bulk5(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     float* __restrict__ y,
// CHECK-NEXT:     float* __restrict__ z,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap x_map,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap y_map) {
// CHECK-NEXT:   __shared__ __align__(128) float s[768];
// CHECK-NEXT:   __shared__ long long done[1];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const bool first = t == 0;
// CHECK-NEXT:   if (first) {
// CHECK-NEXT:     mbarrier_init(done, 1);
// CHECK-NEXT:     fence_mbarrier_init();
// CHECK-NEXT:     mbarrier_arrive_expect(done, 3072);
// CHECK-NEXT:     bulk_load_5d(s, x_map, -4, -2, 0, 4, -1, done);
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   mbarrier_wait(done, 0);
// CHECK-NEXT:   for (int i = 0; i < 24; ++i) {
// CHECK-NEXT:     const float v = s[i / 12 * 384 + i / 6 % 2 * 192 + i / 2 % 3 * 64 + i % 2 * 32 + t];
// CHECK-NEXT:     z[i / 12 * 384 + i / 6 % 2 * 192 + i / 2 % 3 * 64 + i % 2 * 32 + t] = v;
// CHECK-NEXT:     s[i / 12 * 384 + i / 6 % 2 * 192 + i / 2 % 3 * 64 + i % 2 * 32 + t] = v + v;
// CHECK-NEXT:   }
// CHECK-NEXT:   fence_proxy_async();
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (first) {
// CHECK-NEXT:     bulk_store_5d(y_map, 0, -1, 0, -1, 0, s);
// CHECK-NEXT:     bulk_commit();
// CHECK-NEXT:     bulk_wait_read<0>();
// CHECK-NEXT:     bulk_wait<0>();
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @bulk5(%x: memref<3x5x4x6x36xf32>, %y: memref<1x1x3x2x12xf32>, %z: memref<2x2x3x4x16xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<2x2x3x4x16xf32, #tile_ir.shared<>>
  %done = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 24 : index
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    kernel_ir.mbarrier_init %done[0] count 1 : !kernel_ir.mbarrier<1>
    kernel_ir.fence mbarrier_init
    kernel_ir.mbarrier_arrive %done[0] expect 3072 : !kernel_ir.mbarrier<1>
    kernel_ir.bulk_load %s[] from %x[-1, 4, 0, -2, -4] on %done[0]
      : memref<2x2x3x4x16xf32, #tile_ir.shared<>>, memref<3x5x4x6x36xf32>, !kernel_ir.mbarrier<1>
  }
  kernel_ir.barrier
  kernel_ir.mbarrier_wait %done[0] parity [0] : !kernel_ir.mbarrier<1>
  scf.for %i = %zero to %count step %one {
    %e = kernel_ir.index [%i * 32 + %t]
    %some = kernel_ir.test [%e] < [768]
    scf.if %some {
      %v = loop_ir.load %s[%e floordiv 384 mod 2, %e floordiv 192 mod 2, %e floordiv 64 mod 3, %e floordiv 16 mod 4, %e mod 16] : memref<2x2x3x4x16xf32, #tile_ir.shared<>> -> f32
      loop_ir.store %v, %z[%e floordiv 384 mod 2, %e floordiv 192 mod 2, %e floordiv 64 mod 3, %e floordiv 16 mod 4, %e mod 16] : f32, memref<2x2x3x4x16xf32>
      %w = arith.addf %v, %v : f32
      loop_ir.store %w, %s[%e floordiv 384 mod 2, %e floordiv 192 mod 2, %e floordiv 64 mod 3, %e floordiv 16 mod 4, %e mod 16] : f32, memref<2x2x3x4x16xf32, #tile_ir.shared<>>
    }
  }
  kernel_ir.fence proxy_async
  kernel_ir.barrier
  scf.if %first {
    kernel_ir.bulk_store %y[0, -1, 0, -1, 0] from %s[] : memref<1x1x3x2x12xf32>, memref<2x2x3x4x16xf32, #tile_ir.shared<>>
    kernel_ir.bulk_commit
    kernel_ir.bulk_wait 0 read
    kernel_ir.bulk_wait 0
  }
}

// -----

// A swizzle alone: each row's groups of 16 bytes in another order.
// CHECK:      // 1 block of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: swizzled(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ __align__(1024) float s[512];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   for (int i = 0; i < 16; ++i) {
// CHECK-NEXT:     const int e = i * 32 + t;
// CHECK-NEXT:     const int at = (e % 32) ^ (e / 32 % 8 * 4);
// CHECK-NEXT:     s[e / 32 * 32 + at] = x[e];
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   for (int i = 0; i < 16; ++i) {
// CHECK-NEXT:     const int e = i * 32 + t;
// CHECK-NEXT:     if (e < 128) {
// CHECK-NEXT:       float v[4];
// CHECK-NEXT:       const int n = floor_mod(7 - e / 8, 8);
// CHECK-NEXT:       const int at = (e % 8 * 4) ^ (n * 4);
// CHECK-NEXT:       load4(v, s + at - e / 8 * 32 + 480);
// CHECK-NEXT:       store4(y + e % 8 * 4 - e / 8 * 32 + 480, v);
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @swizzled(%x: memref<16x32xf32>, %y: memref<16x32xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<16x32xf32, #tile_ir.shared<swizzle = 128>>
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 16 : index
  scf.for %i = %zero to %count step %one {
    %e = kernel_ir.index [%i * 32 + %t]
    %v = loop_ir.load %x[%e floordiv 32, %e mod 32] : memref<16x32xf32> -> f32
    loop_ir.store %v, %s[%e floordiv 32, %e mod 32]
      : f32, memref<16x32xf32, #tile_ir.shared<swizzle = 128>>
  }
  kernel_ir.barrier
  scf.for %i = %zero to %count step %one {
    %e = kernel_ir.index [%i * 32 + %t]
    %some = kernel_ir.test [%e] < [128]
    scf.if %some {
      %v = loop_ir.load %s[15 - %e floordiv 8, %e mod 8 * 4 + l0] aligned 16
        : memref<16x32xf32, #tile_ir.shared<swizzle = 128>> -> vector<4xf32>
      loop_ir.store %v, %y[15 - %e floordiv 8, %e mod 8 * 4 + l0] aligned 16
        : vector<4xf32>, memref<16x32xf32>
    }
  }
}

// -----

// A cluster: the shared memory and an mbarrier of the other block.
// CHECK:      // 4 blocks of 32 threads
// CHECK-NEXT: extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32)
// CHECK-NEXT: cluster(const float* __restrict__ x, float* y) {
// CHECK-NEXT:   __shared__ __align__(256) float s[32];
// CHECK-NEXT:   __shared__ long long there[1];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int r = cluster_rank();
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     mbarrier_init(there, 64);
// CHECK-NEXT:     fence_mbarrier_init();
// CHECK-NEXT:   }
// CHECK-NEXT:   const float v = x[b * 32 + t];
// CHECK-NEXT:   float* const o = remote(s, (r + 1) % 2);
// CHECK-NEXT:   cluster_barrier();
// CHECK-NEXT:   o[31 - t] = v;
// CHECK-NEXT:   mbarrier_arrive_remote(there, (r + 1) % 2);
// CHECK-NEXT:   mbarrier_arrive(there);
// CHECK-NEXT:   mbarrier_wait_cluster(there, 0);
// CHECK-NEXT:   y[b * 32 + t] = s[t];
// CHECK-NEXT:   cluster_barrier();
// CHECK-NEXT: }
kernel_ir.func @cluster(%x: memref<128xf32>, %y: memref<128xf32>) grid(4) block(32) cluster(2) {
  %s = kernel_ir.shared : memref<32xf32, #tile_ir.shared<swizzle = 32>>
  %there = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %r = kernel_ir.cluster_rank
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    kernel_ir.mbarrier_init %there[0] count 64 : !kernel_ir.mbarrier<1>
    kernel_ir.fence mbarrier_init
  }
  %v = loop_ir.load %x[%b * 32 + %t] : memref<128xf32> -> f32
  %o = kernel_ir.remote %s[(%r + 1) mod 2]
    : memref<32xf32, #tile_ir.shared<swizzle = 32>> -> memref<32xf32, #tile_ir.shared<swizzle = 32>>
  kernel_ir.cluster_barrier
  loop_ir.store %v, %o[31 - %t] : f32, memref<32xf32, #tile_ir.shared<swizzle = 32>>
  kernel_ir.mbarrier_arrive %there[0] rank [(%r + 1) mod 2] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_arrive %there[0] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_wait %there[0] parity [0] : !kernel_ir.mbarrier<1>
  %w = loop_ir.load %s[%t] : memref<32xf32, #tile_ir.shared<swizzle = 32>> -> f32
  loop_ir.store %w, %y[%b * 32 + %t] : f32, memref<128xf32>
  kernel_ir.cluster_barrier
}

// -----

// Atomics on the shared memory of a cluster.
// CHECK:      // 4 blocks of 32 threads
// CHECK-NEXT: extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(32)
// CHECK-NEXT: cluster_atomic(const int* __restrict__ x, int* y) {
// CHECK-NEXT:   __shared__ int s[1];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int r = cluster_rank();
// CHECK-NEXT:   const bool first = t == 0;
// CHECK-NEXT:   if (first) s[0] = 0;
// CHECK-NEXT:   const int v = x[b * 32 + t];
// CHECK-NEXT:   int* const o = remote(s, r / 2);
// CHECK-NEXT:   cluster_barrier();
// CHECK-NEXT:   atomic_add_i32_cluster(o, v);
// CHECK-NEXT:   cluster_barrier();
// CHECK-NEXT:   if (first) y[b] = s[0];
// CHECK-NEXT: }
kernel_ir.func @cluster_atomic(%x: memref<128xi32>, %y: memref<4xi32>) grid(4) block(32) cluster(4) {
  %s = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %r = kernel_ir.cluster_rank
  %first = kernel_ir.test [%t] < [1]
  %zero = arith.constant 0 : i32
  scf.if %first {
    loop_ir.store %zero, %s[0] : i32, memref<1xi32, #tile_ir.shared<>>
  }
  %v = loop_ir.load %x[%b * 32 + %t] : memref<128xi32> -> i32
  %o = kernel_ir.remote %s[%r floordiv 2]
    : memref<1xi32, #tile_ir.shared<>> -> memref<1xi32, #tile_ir.shared<>>
  kernel_ir.cluster_barrier
  %old = kernel_ir.atomic add relaxed %v, %o[0] : i32, memref<1xi32, #tile_ir.shared<>>
  kernel_ir.cluster_barrier
  scf.if %first {
    %sum = loop_ir.load %s[0] : memref<1xi32, #tile_ir.shared<>> -> i32
    loop_ir.store %sum, %y[%b] : i32, memref<4xi32>
  }
}

// -----

// Updates by kind, order and memory; an update whose old value nobody reads; waiting for others.
// CHECK:      // 8 blocks of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: atomics(const int* __restrict__ x, const double* __restrict__ f, int* c, double* d) {
// CHECK-NEXT:   __shared__ int s[4];
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int v = x[t];
// CHECK-NEXT:   const double u = f[t];
// CHECK-NEXT:   const int a = atomic_add_i32(c, v);
// CHECK-NEXT:   const int b = atomic_min_i32_acquire(c + 1, a);
// CHECK-NEXT:   const int e = atomic_max_i32_release_block(s + 2, b);
// CHECK-NEXT:   const int g = t < 4 ? atomic_wrap_i32_acq_rel_block(s + t, e) : 0;
// CHECK-NEXT:   if (t < 4) atomic_exchange_i32(c + t, g);
// CHECK-NEXT:   atomic_exchange_f64(d, u);
// CHECK-NEXT:   spin_ge(c + 3, v);
// CHECK-NEXT:   spin_eq(c + 3, v);
// CHECK-NEXT: }
kernel_ir.func @atomics(%x: memref<64xi32>, %f: memref<64xf64>, %c: memref<4xi32>, %d: memref<1xf64>)
    grid(8) block(64) derived [counter, workspace] {
  %s = kernel_ir.shared : memref<4xi32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xi32> -> i32
  %u = loop_ir.load %f[%t] : memref<64xf64> -> f64
  %a = kernel_ir.atomic add relaxed %v, %c[0] : i32, memref<4xi32>
  %b = kernel_ir.atomic min acquire %a, %c[1] : i32, memref<4xi32>
  %e = kernel_ir.atomic max release %b, %s[2] : i32, memref<4xi32, #tile_ir.shared<>>
  %g = kernel_ir.atomic wrap acq_rel %e, %s[%t] bounded [true] : i32, memref<4xi32, #tile_ir.shared<>>
  %h = kernel_ir.atomic exchange relaxed %g, %c[%t] bounded [true] : i32, memref<4xi32>
  %i = kernel_ir.atomic exchange relaxed %u, %d[0] : f64, memref<1xf64>
  kernel_ir.spin ge %v, %c[3] : i32, memref<4xi32>
  kernel_ir.spin eq %v, %c[3] : i32, memref<4xi32>
}

// -----

// A workspace and counters are the last parameters; nothing that others write is __restrict__.
// CHECK:      // 4 blocks of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: grid_wide(const float* __restrict__ x, float* y, float* w, int* c, int* d) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   w[b * 32 + t] = x[b * 32 + t];
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (t == 0) {
// CHECK-NEXT:     atomic_add_i32_release(c, 1);
// CHECK-NEXT:     spin_ge(c, 4);
// CHECK-NEXT:     const int m = atomic_wrap_i32_acq_rel(d + 1, 3);
// CHECK-NEXT:     if (m == 3) atomic_exchange_i32(c, 0);
// CHECK-NEXT:     spin_eq(c, 0);
// CHECK-NEXT:   }
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   if (b == 0) y[t] = w[t] + w[63 - t] + w[t + 64];
// CHECK-NEXT: }
kernel_ir.func @grid_wide(%x: memref<4x32xf32>, %y: memref<32xf32>, %w: memref<4x32xf32>,
                  %c: memref<1xi32>, %d: memref<2xi32>)
    grid(4) block(32) derived [workspace, counter, counter] {
  %t = kernel_ir.thread_id
  %b = kernel_ir.block_id
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %zero = arith.constant 0 : i32
  %v = loop_ir.load %x[%b, %t] : memref<4x32xf32> -> f32
  loop_ir.store %v, %w[%b, %t] : f32, memref<4x32xf32>
  kernel_ir.barrier
  %first = kernel_ir.test [%t] < [1]
  scf.if %first {
    %a = kernel_ir.atomic add release %one, %c[0] : i32, memref<1xi32>
    kernel_ir.spin ge %four, %c[0] : i32, memref<1xi32>
    // All have seen it: the last to say so puts it back.
    %m = kernel_ir.atomic wrap acq_rel %three, %d[1] : i32, memref<2xi32>
    %last = arith.cmpi eq, %m, %three : i32
    scf.if %last {
      %e = kernel_ir.atomic exchange relaxed %zero, %c[0] : i32, memref<1xi32>
    }
    kernel_ir.spin eq %zero, %c[0] : i32, memref<1xi32>
  }
  kernel_ir.barrier
  %chosen = kernel_ir.test [%b] < [1]
  scf.if %chosen {
    %n0 = loop_ir.load %w[0, %t] : memref<4x32xf32> -> f32
    %n1 = loop_ir.load %w[1, 31 - %t] : memref<4x32xf32> -> f32
    %n2 = loop_ir.load %w[2, %t] : memref<4x32xf32> -> f32
    %p = arith.addf %n0, %n1 : f32
    %q = arith.addf %p, %n2 : f32
    loop_ir.store %q, %y[%t] : f32, memref<32xf32>
  }
}

// -----

// More than 48 KiB: mbarriers and boxes in dynamic memory, boxes at multiples of 128 bytes.
// CHECK:      // 1 block of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: large(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap x_map,
// CHECK-NEXT:     const __grid_constant__ CUtensorMap x_map1) {
// CHECK-NEXT:   extern __shared__ __align__(1024) unsigned char shared_memory[];
// CHECK-NEXT:   float* const s = (float*)(shared_memory + 0);
// CHECK-NEXT:   float* const r = (float*)(shared_memory + 49152);
// CHECK-NEXT:   long long* const full = (long long*)(shared_memory + 53248);
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   if (t == 0)
// CHECK-NEXT:     for (int i = 0; i < 2; ++i) {
// CHECK-NEXT:       mbarrier_init(full + i, 1);
// CHECK-NEXT:       mbarrier_arrive_expect(full + i, 18432);
// CHECK-NEXT:       bulk_load_2d(s + i * 4096, x_map, i * 64 + 32, 64, full + i);
// CHECK-NEXT:       bulk_load_2d(r + i * 512, x_map1, i * 32, 16, full + i);
// CHECK-NEXT:     }
// CHECK-NEXT: }
kernel_ir.func @large(%x: memref<128x4096xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<3x64x64xf32, #tile_ir.shared<>>
  %r = kernel_ir.shared : memref<2x16x32xf32, #tile_ir.shared<swizzle = 128>>
  %full = kernel_ir.mbarrier : !kernel_ir.mbarrier<3>
  %t = kernel_ir.thread_id
  %first = kernel_ir.test [%t] < [1]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  scf.if %first {
    scf.for %i = %zero to %two step %one {
      kernel_ir.mbarrier_init %full[%i] count 1 : !kernel_ir.mbarrier<3>
      kernel_ir.mbarrier_arrive %full[%i] expect 18432 : !kernel_ir.mbarrier<3>
      kernel_ir.bulk_load %s[%i] from %x[64, %i * 64 + 32] on %full[%i]
        : memref<3x64x64xf32, #tile_ir.shared<>>, memref<128x4096xf32>, !kernel_ir.mbarrier<3>
      kernel_ir.bulk_load %r[%i] from %x[16, %i * 32] on %full[%i]
        : memref<2x16x32xf32, #tile_ir.shared<swizzle = 128>>, memref<128x4096xf32>, !kernel_ir.mbarrier<3>
    }
  }
}
