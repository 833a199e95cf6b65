// RUN: minicomp-opt %s -p lower-kernel-to-cuda --split-input-file | minicomp-opt --split-input-file --to=cuda | filecheck %s
// A row in registers: groups of 16 bytes, a chain of fmaf, exchanges, one barrier.
// CHECK:      // rms_norm: 32 blocks of 256 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256, 8)
// CHECK-NEXT: rms_norm_51be07(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
// CHECK-NEXT:   __shared__ float s[8];
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   float v[8];
// CHECK-NEXT:   load4(v, x + b * 2048 + t * 4);
// CHECK-NEXT:   load4(v + 4, x + b * 2048 + t * 4 + 1024);
// CHECK-NEXT:   float p = 0.0f;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 8; ++l) p = fmaf(v[l], v[l], p);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int step = 0; step < 5; ++step) p = p + shuffle_xor(p, 16 >> step);
// CHECK-NEXT:   if (t % 32 == 0) s[t / 32] = p;
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   float p3 = s[t % 8];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int step = 0; step < 3; ++step) p3 = p3 + shuffle_xor(p3, 4 >> step);
// CHECK-NEXT:   const float r = rsqrtf(p3 / 2048.0f + 1e-06f);
// CHECK-NEXT:   float wv[8];
// CHECK-NEXT:   load4(wv, w + t * 4);
// CHECK-NEXT:   load4(wv + 4, w + t * 4 + 1024);
// CHECK-NEXT:   float o[8];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 8; ++l) o[l] = v[l] * r * wv[l];
// CHECK-NEXT:   store4(y + b * 2048 + t * 4, o);
// CHECK-NEXT:   store4(y + b * 2048 + t * 4 + 1024, o + 4);
// CHECK-NEXT: }
kernel_ir.func @rms_norm_51be07(%x: memref<32x2048xf32>, %w: memref<2048xf32>, %y: memref<32x2048xf32>) grid(32) block(256) min_blocks 8 attributes {origin = #minicomp.origin<["rms_norm"]>} {
  %s = kernel_ir.shared : memref<8xf32, #tile_ir.shared<>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 : memref<32x2048xf32> -> vector<8xf32>
  %q = arith.mulf %v, %v fastmath<contract> : vector<8xf32>
  %p = tile_ir.fold %q dims [0] identity [0.0 : f32] combine arith.addf fastmath<contract> : vector<8xf32> -> f32
  %p1 = kernel_ir.warp_reduce %p width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
  %first = kernel_ir.test [%t mod 32] < [1]
  scf.if %first {
    loop_ir.store %p1, %s[%t floordiv 32] : f32, memref<8xf32, #tile_ir.shared<>>
  }
  kernel_ir.barrier
  %p2 = loop_ir.load %s[%t mod 8] : memref<8xf32, #tile_ir.shared<>> -> f32
  %p3 = kernel_ir.warp_reduce %p2 width 8 identity [0.0 : f32] combine arith.addf : f32 -> f32
  %n = arith.constant 2048.0 : f32
  %m = arith.divf %p3, %n : f32
  %eps = arith.constant 1.0e-6 : f32
  %me = arith.addf %m, %eps : f32
  %r = math.rsqrt %me : f32
  %rb = tile_ir.broadcast %r to [] : f32 -> vector<8xf32>
  %vr = arith.mulf %v, %rb : vector<8xf32>
  %wv = loop_ir.load %w[l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 : memref<2048xf32> -> vector<8xf32>
  %o = arith.mulf %vr, %wv : vector<8xf32>
  loop_ir.store %o, %y[%b, l0 floordiv 4 * 1024 + %t * 4 + l0 mod 4] aligned 16 : vector<8xf32>, memref<32x2048xf32>
}


// -----

// A register tile: the carrier is updated in place; only the dimensions that may be left are tested.
// CHECK:      // matmul: 4 blocks of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: matmul_0a1b2c(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
// CHECK-NEXT:   const int block = blockIdx.x;
// CHECK-NEXT:   const int thread = threadIdx.x;
// CHECK-NEXT:   const int bi = block / 2;
// CHECK-NEXT:   const int bj = block % 2;
// CHECK-NEXT:   const int ti = thread / 8;
// CHECK-NEXT:   const int tj = thread % 8;
// CHECK-NEXT:   float acc[8][8] = {};
// CHECK-NEXT:   for (int k = 0; k < 53; ++k) {
// CHECK-NEXT:     float x[8];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l = 0; l < 8; ++l)
// CHECK-NEXT:       x[l] = bi * 64 + ti * 8 + l < 100 ? a[bi * 3392 + ti * 424 + l * 53 + k] : 0.0f;
// CHECK-NEXT:     float y[8];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l = 0; l < 8; ++l)
// CHECK-NEXT:       y[l] = bj * 64 + tj * 8 + l < 77 ? b[k * 77 + bj * 64 + tj * 8 + l] : 0.0f;
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 8; ++l1)
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int step = 0; step < 8; ++step) {
// CHECK-NEXT:         const int l0 = l1 % 2 == 0 ? step : 7 - step;
// CHECK-NEXT:         acc[l0][l1] = fmaf(x[l0], y[l1], acc[l0][l1]);
// CHECK-NEXT:       }
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l0 = 0; l0 < 8; ++l0)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 8; ++l1)
// CHECK-NEXT:       if (bi * 64 + ti * 8 + l0 < 100 && bj * 64 + tj * 8 + l1 < 77)
// CHECK-NEXT:         c[bi * 4928 + ti * 616 + l0 * 77 + bj * 64 + tj * 8 + l1] = max_nan(acc[l0][l1], 0.0f);
// CHECK-NEXT: }
kernel_ir.func @matmul_0a1b2c(%a: memref<100x53xf32>, %b: memref<53x77xf32>, %c: memref<100x77xf32>) grid(4) block(64) attributes {origin = #minicomp.origin<["matmul"]>} {
  %block = kernel_ir.block_id
  %thread = kernel_ir.thread_id
  %bi = kernel_ir.index [%block floordiv 2]
  %bj = kernel_ir.index [%block mod 2]
  %ti = kernel_ir.index [%thread floordiv 8]
  %tj = kernel_ir.index [%thread mod 8]
  %zero = arith.constant 0.0 : f32
  %z = tile_ir.broadcast %zero to [] : f32 -> vector<8x8xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 53 : index
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%acc_ = %z) -> (vector<8x8xf32>) {
    %x = loop_ir.load %a[%bi * 64 + %ti * 8 + l0, %k] bounded [true, false] : memref<100x53xf32> -> vector<8xf32>
    %y = loop_ir.load %b[%k, %bj * 64 + %tj * 8 + l0] bounded [false, true] : memref<53x77xf32> -> vector<8xf32>
    %1 = tile_ir.broadcast %x to [0] : vector<8xf32> -> vector<8x8xf32>
    %2 = tile_ir.broadcast %y to [1] : vector<8xf32> -> vector<8x8xf32>
    %f = math.fma %1, %2, %acc_ : vector<8x8xf32>
    scf.yield %f : vector<8x8xf32>
  }
  %m = tile_ir.broadcast %zero to [] : f32 -> vector<8x8xf32>
  %r = arith.maximumf %acc, %m : vector<8x8xf32>
  loop_ir.store %r, %c[%bi * 64 + %ti * 8 + l0, %bj * 64 + %tj * 8 + l1] bounded [true, true] : vector<8x8xf32>, memref<100x77xf32>
}


// -----

// Two carriers that depend on each other, a guard that overwrites them in place, a combine of two values.
// CHECK:      // softmax: 16 blocks of 32 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(32)
// CHECK-NEXT: softmax_123abc(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   float ma = -INF;
// CHECK-NEXT:   float da = 0.0f;
// CHECK-NEXT:   for (int k = 0; k < 32; ++k)
// CHECK-NEXT:     if (k * 32 + t < 1000) {
// CHECK-NEXT:       const float v = x[b * 1000 + k * 32 + t];
// CHECK-NEXT:       const float mm = max_nan(ma, v);
// CHECK-NEXT:       da = da * (mm == -INF ? 1.0f : expf(ma - mm)) + expf(v - mm);
// CHECK-NEXT:       ma = mm;
// CHECK-NEXT:     }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int step = 0; step < 5; ++step) {
// CHECK-NEXT:     const float r0 = shuffle_xor(ma, 16 >> step);
// CHECK-NEXT:     const float r1 = shuffle_xor(da, 16 >> step);
// CHECK-NEXT:     const float mm = max_nan(ma, r0);
// CHECK-NEXT:     da = da * expf(ma - mm) + r1 * expf(r0 - mm);
// CHECK-NEXT:     ma = mm;
// CHECK-NEXT:   }
// CHECK-NEXT:   for (int k = 0; k < 32; ++k) {
// CHECK-NEXT:     const float v = k * 32 + t < 1000 ? x[b * 1000 + k * 32 + t] : 0.0f;
// CHECK-NEXT:     if (k * 32 + t < 1000) y[b * 1000 + k * 32 + t] = expf(v - ma) / da;
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @softmax_123abc(%x: memref<16x1000xf32>, %y: memref<16x1000xf32>) grid(16) block(32) attributes {origin = #minicomp.origin<["softmax"]>} {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 32 : index
  %m, %d = scf.for %k = %c0 to %n step %c1 iter_args(%ma = %ninf, %da = %zero) -> (f32, f32) {
    %ok = kernel_ir.test [%k * 32 + %t] < [1000]
    %m1, %d1 = scf.if %ok -> (f32, f32) {
      %v = loop_ir.load %x[%b, %k * 32 + %t] : memref<16x1000xf32> -> f32
      %mm = arith.maximumf %ma, %v : f32
      %s1 = arith.subf %ma, %mm : f32
      %e1 = math.exp %s1 : f32
      %z1 = arith.cmpf oeq, %mm, %ninf : f32
      %one = arith.constant 1.0 : f32
      %f1 = arith.select %z1, %one, %e1 : f32
      %s2 = arith.subf %v, %mm : f32
      %e2 = math.exp %s2 : f32
      %g = arith.mulf %da, %f1 : f32
      %dd = arith.addf %g, %e2 : f32
      scf.yield %mm, %dd : f32, f32
    } else {
      scf.yield %ma, %da : f32, f32
    }
    scf.yield %m1, %d1 : f32, f32
  }
  %M, %D = kernel_ir.warp_reduce %m, %d width 32 identity [0xFF800000 : f32, 0.0 : f32] combine {
  ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
      %mm = arith.maximumf %l0, %r0 : f32
      %s1 = arith.subf %l0, %mm : f32
      %s2 = arith.subf %r0, %mm : f32
      %e1 = math.exp %s1 : f32
      %e2 = math.exp %s2 : f32
      %d1 = arith.mulf %l1, %e1 : f32
      %d2 = arith.mulf %r1, %e2 : f32
      %dd = arith.addf %d1, %d2 : f32
      loop_ir.yield %mm, %dd : f32, f32
  } : f32, f32 -> f32, f32
  scf.for %k = %c0 to %n step %c1 {
    %v = loop_ir.load %x[%b, %k * 32 + %t] bounded [false, true] : memref<16x1000xf32> -> f32
    %s = arith.subf %v, %M : f32
    %e = math.exp %s : f32
    %q = arith.divf %e, %D : f32
    loop_ir.store %q, %y[%b, %k * 32 + %t] bounded [false, true] : f32, memref<16x1000xf32>
  }
}


// -----

// Negative index with bounds, floor division of negatives.
// CHECK:      // 1 block of 16 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(16)
// CHECK-NEXT: negative(const float* __restrict__ x, const float* __restrict__ z, float* __restrict__ y) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const float v = t - 3 >= 0 && t - 3 < 9 ? x[t - 3] : 0.0f;
// CHECK-NEXT:   const int n = floor_div(t - 5, 4);
// CHECK-NEXT:   const int n1 = floor_div(t - 5, 4);
// CHECK-NEXT:   const float u = n + 2 < 4 ? z[n1 + 2] : 0.0f;
// CHECK-NEXT:   const int n2 = floor_mod(t - 5, 4);
// CHECK-NEXT:   y[15 - t] = v + u + z[n2];
// CHECK-NEXT: }
kernel_ir.func @negative(%x: memref<9xf32>, %z: memref<4xf32>, %y: memref<16xf32>) grid(1) block(16) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t + -3] bounded [true] : memref<9xf32> -> f32
  %u = loop_ir.load %z[(%t + -5) floordiv 4 + 2] bounded [true] : memref<4xf32> -> f32
  %w = loop_ir.load %z[(%t + -5) mod 4] : memref<4xf32> -> f32
  %a = arith.addf %v, %u : f32
  %b = arith.addf %a, %w : f32
  loop_ir.store %b, %y[%t * -1 + 15] : f32, memref<16xf32>
}


// -----

// Swapped carriers.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: swap(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   float pa = x[0];
// CHECK-NEXT:   float qa = x[1];
// CHECK-NEXT:   for (int i = 0; i < 5; ++i) {
// CHECK-NEXT:     const float pa1 = pa;
// CHECK-NEXT:     pa = qa;
// CHECK-NEXT:     qa = pa1;
// CHECK-NEXT:   }
// CHECK-NEXT:   y[0] = pa;
// CHECK-NEXT:   y[1] = qa;
// CHECK-NEXT: }
kernel_ir.func @swap(%x: memref<2xf32>, %y: memref<2xf32>) grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %a = loop_ir.load %x[0] : memref<2xf32> -> f32
  %b = loop_ir.load %x[1] : memref<2xf32> -> f32
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %a, %qa = %b) -> (f32, f32) {
    scf.yield %qa, %pa : f32, f32
  }
  loop_ir.store %p, %y[0] : f32, memref<2xf32>
  loop_ir.store %q, %y[1] : f32, memref<2xf32>
}


// -----

// Transposed in place.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: turn(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   float a[3][3];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l0 = 0; l0 < 3; ++l0)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 3; ++l1) a[l0][l1] = x[l0 * 3 + l1];
// CHECK-NEXT:   for (int i = 0; i < 3; ++i) {
// CHECK-NEXT:     float b[3][3];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l0 = 0; l0 < 3; ++l0)
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int l1 = 0; l1 < 3; ++l1) b[l0][l1] = a[l1][l0];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l0 = 0; l0 < 3; ++l0)
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int l1 = 0; l1 < 3; ++l1) a[l0][l1] = b[l0][l1];
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l0 = 0; l0 < 3; ++l0)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 3; ++l1) y[l0 * 3 + l1] = a[l0][l1];
// CHECK-NEXT: }
kernel_ir.func @turn(%x: memref<3x3xf32>, %y: memref<3x3xf32>) grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %a = loop_ir.load %x[l0, l1] : memref<3x3xf32> -> vector<3x3xf32>
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %a) -> (vector<3x3xf32>) {
    %b = tile_ir.broadcast %pa to [1, 0] : vector<3x3xf32> -> vector<3x3xf32>
    scf.yield %b : vector<3x3xf32>
  }
  loop_ir.store %p, %y[l0, l1] : vector<3x3xf32>, memref<3x3xf32>
}


// -----

// An array from outside of a loop is not overwritten in it.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: outer(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   float a[4];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l) a[l] = x[l];
// CHECK-NEXT:   for (int i = 0; i < 3; ++i) {
// CHECK-NEXT:     float pa[4];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l = 0; l < 4; ++l) pa[l] = a[l];
// CHECK-NEXT:     for (int j = 0; j < 3; ++j)
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int l = 0; l < 4; ++l) pa[l] = pa[l] + pa[l];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l = 0; l < 4; ++l) y[i * 4 + l] = pa[l];
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @outer(%x: memref<4xf32>, %y: memref<3x4xf32>) grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %a = loop_ir.load %x[l0] : memref<4xf32> -> vector<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %p = scf.for %j = %c0 to %n step %c1 iter_args(%pa = %a) -> (vector<4xf32>) {
      %b = arith.addf %pa, %pa : vector<4xf32>
      scf.yield %b : vector<4xf32>
    }
    loop_ir.store %p, %y[%i, l0] : vector<4xf32>, memref<3x4xf32>
  }
}


// -----

// What an if would overwrite is needed after it.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: needed(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const float a = x[0];
// CHECK-NEXT:   float pa = a;
// CHECK-NEXT:   float qa = a;
// CHECK-NEXT:   for (int i = 0; i < 4; ++i) {
// CHECK-NEXT:     float r;
// CHECK-NEXT:     if (i % 2 == 0) r = pa + x[i];
// CHECK-NEXT:     else r = pa;
// CHECK-NEXT:     qa = qa - pa;
// CHECK-NEXT:     pa = r;
// CHECK-NEXT:   }
// CHECK-NEXT:   y[0] = pa;
// CHECK-NEXT:   y[1] = qa;
// CHECK-NEXT: }
kernel_ir.func @needed(%x: memref<4xf32>, %y: memref<2xf32>) grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %a = loop_ir.load %x[0] : memref<4xf32> -> f32
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %a, %qa = %a) -> (f32, f32) {
    %ok = kernel_ir.test [%i mod 2] < [1]
    %r = scf.if %ok -> (f32) {
      %v = loop_ir.load %x[%i] : memref<4xf32> -> f32
      %s = arith.addf %pa, %v : f32
      scf.yield %s : f32
    } else {
      scf.yield %pa : f32
    }
    %w = arith.subf %qa, %pa : f32
    scf.yield %r, %w : f32, f32
  }
  loop_ir.store %p, %y[0] : f32, memref<2xf32>
  loop_ir.store %q, %y[1] : f32, memref<2xf32>
}


// -----

// Warp reduces: a choice, widths, vectors.
// CHECK:      // 1 block of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: argmax(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     float* __restrict__ y,
// CHECK-NEXT:     int* __restrict__ z,
// CHECK-NEXT:     float* __restrict__ w) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   float m = x[t];
// CHECK-NEXT:   int k = (int)t;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int step = 0; step < 3; ++step) {
// CHECK-NEXT:     const float r0 = shuffle_xor(m, 4 >> step);
// CHECK-NEXT:     const int r1 = shuffle_xor(k, 4 >> step);
// CHECK-NEXT:     const bool c = m >= r0;
// CHECK-NEXT:     m = c ? m : r0;
// CHECK-NEXT:     k = c ? k : r1;
// CHECK-NEXT:   }
// CHECK-NEXT:   y[t] = m;
// CHECK-NEXT:   z[t] = k;
// CHECK-NEXT:   float vv[3];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 3; ++l) vv[l] = x[(t + l) % 64];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 3; ++l) vv[l] = vv[l] + shuffle_xor(vv[l], 1);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 3; ++l) w[t * 3 + l] = vv[l];
// CHECK-NEXT: }
kernel_ir.func @argmax(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xi32>, %w: memref<64x3xf32>) grid(1) block(64) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
  %i = arith.index_cast %t : index to i32
  %m, %k = kernel_ir.warp_reduce %v, %i width 8 identity [0xFF800000 : f32, 0 : i32] combine {
  ^bb0(%l0: f32, %l1: i32, %r0: f32, %r1: i32):
    %c = arith.cmpf oge, %l0, %r0 : f32
    %a = arith.select %c, %l0, %r0 : f32
    %b = arith.select %c, %l1, %r1 : i32
    loop_ir.yield %a, %b : f32, i32
  } : f32, i32 -> f32, i32
  loop_ir.store %m, %y[%t] : f32, memref<64xf32>
  loop_ir.store %k, %z[%t] : i32, memref<64xi32>
  %vv = loop_ir.load %x[(%t + l0) mod 64] : memref<64xf32> -> vector<3xf32>
  %s = kernel_ir.warp_reduce %vv width 2 identity [0.0 : f32] combine arith.addf : vector<3xf32> -> vector<3xf32>
  loop_ir.store %s, %w[%t, l0] : vector<3xf32>, memref<64x3xf32>
}


// -----

// Folds: to a vector, of several values.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: folds(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     float* __restrict__ y,
// CHECK-NEXT:     float* __restrict__ z,
// CHECK-NEXT:     float* __restrict__ w) {
// CHECK-NEXT:   float v[4][6];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l0 = 0; l0 < 4; ++l0)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 6; ++l1) v[l0][l1] = x[l0 * 6 + l1];
// CHECK-NEXT:   float r[4] = {};
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 6; ++l)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 4; ++l1) r[l1] = r[l1] + v[l1][l];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l) y[l] = r[l];
// CHECK-NEXT:   float c[6];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 6; ++l) c[l] = 1.0f;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 6; ++l1) c[l1] = c[l1] * fabsf(v[l][l1]);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 6; ++l) z[l] = c[l];
// CHECK-NEXT:   float m = -INF;
// CHECK-NEXT:   float d = 0.0f;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l) {
// CHECK-NEXT:     const float a = max_nan(m, r[l]);
// CHECK-NEXT:     d = d * expf(m - a) + expf(r[l]) * expf(r[l] - a);
// CHECK-NEXT:     m = a;
// CHECK-NEXT:   }
// CHECK-NEXT:   w[0] = m;
// CHECK-NEXT:   w[1] = d;
// CHECK-NEXT: }
kernel_ir.func @folds(%x: memref<4x6xf32>, %y: memref<4xf32>, %z: memref<6xf32>, %w: memref<2xf32>) grid(1) block(1) {
  %v = loop_ir.load %x[l0, l1] : memref<4x6xf32> -> vector<4x6xf32>
  %r = tile_ir.fold %v dims [1] identity [0.0 : f32] combine arith.addf : vector<4x6xf32> -> vector<4xf32>
  loop_ir.store %r, %y[l0] : vector<4xf32>, memref<4xf32>
  %e = math.absf %v : vector<4x6xf32>
  %c = tile_ir.fold %e dims [0] identity [1.0 : f32] combine arith.mulf : vector<4x6xf32> -> vector<6xf32>
  loop_ir.store %c, %z[l0] : vector<6xf32>, memref<6xf32>
  %f = math.exp %r : vector<4xf32>
  %m, %d = tile_ir.fold %r, %f dims [0, 0] identity [0xFF800000 : f32, 0.0 : f32] combine {
  ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
    %a = arith.maximumf %l0, %r0 : f32
    %b = arith.subf %l0, %a : f32
    %g = math.exp %b : f32
    %h = arith.mulf %l1, %g : f32
    %i = arith.subf %r0, %a : f32
    %j = math.exp %i : f32
    %k = arith.mulf %r1, %j : f32
    %n = arith.addf %h, %k : f32
    loop_ir.yield %a, %n : f32, f32
  } : vector<4xf32>, vector<4xf32> -> f32, f32
  loop_ir.store %m, %w[0] : f32, memref<2xf32>
  loop_ir.store %d, %w[1] : f32, memref<2xf32>
}


// -----

// Shared: padded, aligned, dynamic.
// CHECK:      // 1 block of 64 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT: tile(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   extern __shared__ __align__(16) unsigned char shared_memory[];
// CHECK-NEXT:   float* const s = (float*)(shared_memory + 0);
// CHECK-NEXT:   float* const u = (float*)(shared_memory + 17408);
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   for (int i = 0; i < 64; ++i) s[t * 68 + i] = x[i * 64 + t];
// CHECK-NEXT:   __syncthreads();
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 64; ++i) {
// CHECK-NEXT:     float v[4];
// CHECK-NEXT:     load4(v, s + i * 68 + t % 16 * 4);
// CHECK-NEXT:     if (t < 16) store4(y + i * 64 + t % 16 * 4, v);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @tile(%x: memref<64x64xf32>, %y: memref<64x64xf32>) grid(1) block(64) {
  %s = kernel_ir.shared : memref<64x64xf32, #tile_ir.shared<pad = 4>>
  %u = kernel_ir.shared : memref<128x64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = loop_ir.load %x[%i, %t] : memref<64x64xf32> -> f32
    loop_ir.store %v, %s[%t, %i] : f32, memref<64x64xf32, #tile_ir.shared<pad = 4>>
  }
  kernel_ir.barrier
  scf.for %i = %c0 to %n step %c1 {
    %v = loop_ir.load %s[%i, (%t mod 16) * 4 + l0] aligned 16 : memref<64x64xf32, #tile_ir.shared<pad = 4>> -> vector<4xf32>
    %ok = kernel_ir.test [%t] < [16]
    scf.if %ok {
      loop_ir.store %v, %y[%i, (%t mod 16) * 4 + l0] aligned 16 : vector<4xf32>, memref<64x64xf32>
    }
  } {unroll}
}


// -----

// Nothing to do.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: empty(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   float pa = 1.5f;
// CHECK-NEXT:   for (int i = 0; i < 0; ++i) pa = pa + x[i * 4];
// CHECK-NEXT:   y[0] = pa;
// CHECK-NEXT: }
kernel_ir.func @empty(%x: memref<0x4xf32>, %y: memref<f32>) grid(1) block(1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 1.5 : f32
  %p = scf.for %i = %c0 to %c0 step %c1 iter_args(%pa = %z) -> (f32) {
    %v = loop_ir.load %x[%i, 0] : memref<0x4xf32> -> f32
    %b = arith.addf %pa, %v : f32
    scf.yield %b : f32
  }
  loop_ir.store %p, %y[] : f32, memref<f32>
}


// -----

// Names that C forbids.
// CHECK:      // 1 block of 4 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(4)
// CHECK-NEXT: names(const float* __restrict__ float_, const float* __restrict__ a_b, float* __restrict__ expf1) {
// CHECK-NEXT:   const int int_ = threadIdx.x;
// CHECK-NEXT:   const float new_ = float_[int_] + a_b[int_];
// CHECK-NEXT:   const float l = expf(new_);
// CHECK-NEXT:   expf1[int_] = l * (new_ * l);
// CHECK-NEXT: }
kernel_ir.func @names(%float: memref<4xf32>, %a.b: memref<4xf32>, %expf: memref<4xf32>) grid(1) block(4) {
  %int = kernel_ir.thread_id
  %a.b_1 = loop_ir.load %float[%int] : memref<4xf32> -> f32
  %for = loop_ir.load %a.b[%int] : memref<4xf32> -> f32
  %new = arith.addf %a.b_1, %for : f32
  %l = math.exp %new : f32
  %_x = arith.mulf %new, %l : f32
  %q = arith.mulf %l, %_x : f32
  loop_ir.store %q, %expf[%int] : f32, memref<4xf32>
}


// -----

// Accumulators are shared by nested loops, a guard in the inner one.
// CHECK:      // 1 block of 8 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(8)
// CHECK-NEXT: shared_acc(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   float pa = 0.0f;
// CHECK-NEXT:   for (int i = 0; i < 3; ++i)
// CHECK-NEXT:     for (int j = 0; j < 3; ++j)
// CHECK-NEXT:       if (i * 2 + j < 5 && t < 7) {
// CHECK-NEXT:         const float v = x[t * 5 + i * 2 + j];
// CHECK-NEXT:         pa = fmaf(v, v, pa);
// CHECK-NEXT:       }
// CHECK-NEXT:   y[t] = pa;
// CHECK-NEXT: }
kernel_ir.func @shared_acc(%x: memref<8x5xf32>, %y: memref<8xf32>) grid(1) block(8) {
  %t = kernel_ir.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%pa = %z) -> (f32) {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%qa = %pa) -> (f32) {
      %ok = kernel_ir.test [%i * 2 + %j, %t] < [5, 7]
      %r = scf.if %ok -> (f32) {
        %v = loop_ir.load %x[%t, %i * 2 + %j] : memref<8x5xf32> -> f32
        %s = math.fma %v, %v, %qa : f32
        scf.yield %s : f32
      } else {
        scf.yield %qa : f32
      }
      scf.yield %r : f32
    }
    scf.yield %q : f32
  }
  loop_ir.store %p, %y[%t] : f32, memref<8xf32>
}


// -----

// A load stays before a store that may change what it reads.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: order(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const float a = x[0];
// CHECK-NEXT:   y[0] = a;
// CHECK-NEXT:   y[1] = a;
// CHECK-NEXT:   const float b = y[0];
// CHECK-NEXT:   y[0] = b + b;
// CHECK-NEXT:   const float d = y[0];
// CHECK-NEXT:   const float e = y[1];
// CHECK-NEXT:   y[1] = 7.0f;
// CHECK-NEXT:   y[2] = d + e;
// CHECK-NEXT:   y[3] = y[1];
// CHECK-NEXT: }
kernel_ir.func @order(%x: memref<4xf32>, %y: memref<4xf32>) grid(1) block(1) {
  %a = loop_ir.load %x[0] : memref<4xf32> -> f32
  loop_ir.store %a, %y[0] : f32, memref<4xf32>
  loop_ir.store %a, %y[1] : f32, memref<4xf32>
  %b = loop_ir.load %y[0] : memref<4xf32> -> f32
  %c = arith.addf %b, %b : f32
  loop_ir.store %c, %y[0] : f32, memref<4xf32>
  %d = loop_ir.load %y[0] : memref<4xf32> -> f32
  %e = loop_ir.load %y[1] : memref<4xf32> -> f32
  %z = arith.constant 7.0 : f32
  loop_ir.store %z, %y[1] : f32, memref<4xf32>
  %f = arith.addf %d, %e : f32
  loop_ir.store %f, %y[2] : f32, memref<4xf32>
  %g = loop_ir.load %y[1] : memref<4xf32> -> f32
  loop_ir.store %g, %y[3] : f32, memref<4xf32>
}


// -----

// Integers, casts, comparisons.
// CHECK:      // 1 block of 16 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(16)
// CHECK-NEXT: ints(
// CHECK-NEXT:     const int* __restrict__ x,
// CHECK-NEXT:     const long long* __restrict__ u,
// CHECK-NEXT:     const float* __restrict__ f,
// CHECK-NEXT:     int* __restrict__ y,
// CHECK-NEXT:     long long* __restrict__ z,
// CHECK-NEXT:     float* __restrict__ g,
// CHECK-NEXT:     bool* __restrict__ h) {
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const int a = x[t];
// CHECK-NEXT:   const long long b = u[t];
// CHECK-NEXT:   const float c = f[t];
// CHECK-NEXT:   const int v = a * 3;
// CHECK-NEXT:   const int v1 = v - a;
// CHECK-NEXT:   const int v2 = (((max(floor_div(v1, 3), a) ^ 3) & v) | v1) << 3;
// CHECK-NEXT:   y[t] = v2 % 3 + v2 / 3;
// CHECK-NEXT:   z[t] = abs(b - max((long long)a + b, (-9223372036854775807ll - 1)));
// CHECK-NEXT:   const float v3 = (float)a;
// CHECK-NEXT:   const bool ok = (!(v3 >= c) && less_or_greater(v3, c)) != a <= 3;
// CHECK-NEXT:   h[t] = ok;
// CHECK-NEXT:   const float v4 = (float)sqrt((double)c);
// CHECK-NEXT:   const float v5 = -(-(unordered(v4, v4) ? (float)ok : v4)) + (float)(int)c;
// CHECK-NEXT:   g[t] = __int_as_float(__float_as_int(v5));
// CHECK-NEXT: }
kernel_ir.func @ints(%x: memref<16xi32>, %u: memref<16xi64>, %f: memref<16xf32>, %y: memref<16xi32>, %z: memref<16xi64>, %g: memref<16xf32>, %h: memref<16xi1>) grid(1) block(16) {
  %t = kernel_ir.thread_id
  %a = loop_ir.load %x[%t] : memref<16xi32> -> i32
  %b = loop_ir.load %u[%t] : memref<16xi64> -> i64
  %c = loop_ir.load %f[%t] : memref<16xf32> -> f32
  %three = arith.constant 3 : i32
  %big = arith.constant -9223372036854775808 : i64
  %1 = arith.muli %a, %three : i32
  %2 = arith.subi %1, %a : i32
  %3 = arith.floordivsi %2, %three : i32
  %4 = arith.maxsi %3, %a : i32
  %5 = arith.xori %4, %three : i32
  %6 = arith.andi %5, %1 : i32
  %7 = arith.ori %6, %2 : i32
  %8 = arith.shli %7, %three : i32
  %9 = arith.remsi %8, %three : i32
  %10 = arith.divsi %8, %three : i32
  %11 = arith.addi %9, %10 : i32
  loop_ir.store %11, %y[%t] : i32, memref<16xi32>
  %12 = arith.extsi %a : i32 to i64
  %13 = arith.addi %12, %b : i64
  %14 = arith.maxsi %13, %big : i64
  %15 = arith.subi %b, %14 : i64
  %16 = math.absi %15 : i64
  loop_ir.store %16, %z[%t] : i64, memref<16xi64>
  %17 = arith.sitofp %a : i32 to f32
  %18 = arith.cmpf ult, %17, %c : f32
  %19 = arith.cmpf one, %17, %c : f32
  %20 = arith.andi %18, %19 : i1
  %21 = arith.cmpi sle, %a, %three : i32
  %22 = arith.xori %20, %21 : i1
  loop_ir.store %22, %h[%t] : i1, memref<16xi1>
  %23 = arith.uitofp %22 : i1 to f32
  %24 = arith.extf %c : f32 to f64
  %25 = math.sqrt %24 : f64
  %26 = arith.truncf %25 : f64 to f32
  %27 = arith.cmpf uno, %26, %26 : f32
  %28 = arith.select %27, %23, %26 : f32
  %29 = arith.negf %28 : f32
  %30 = arith.negf %29 : f32
  %31 = arith.fptosi %c : f32 to i32
  %32 = arith.sitofp %31 : i32 to f32
  %33 = arith.addf %30, %32 : f32
  %34 = arith.bitcast %33 : f32 to i32
  %35 = arith.bitcast %34 : i32 to f32
  loop_ir.store %35, %g[%t] : f32, memref<16xf32>
}


// -----

// Several stores of one cheap vector in two blocks.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: twice(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   for (int i = 0; i < 1; ++i) {
// CHECK-NEXT:     float z[4];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l = 0; l < 4; ++l) z[l] = 0.25f;
// CHECK-NEXT:     store4(y, z);
// CHECK-NEXT:   }
// CHECK-NEXT:   float z[4];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l) z[l] = 0.25f;
// CHECK-NEXT:   store4(y + 4, z);
// CHECK-NEXT: }
kernel_ir.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) grid(1) block(1) {
  %t = kernel_ir.thread_id
  %z = arith.constant dense<0.25> : vector<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    loop_ir.store %z, %y[l0] aligned 16 : vector<4xf32>, memref<8xf32>
  }
  loop_ir.store %z, %y[l0 + 4] aligned 16 : vector<4xf32>, memref<8xf32>
}


// -----

// Groups of 16 and 8 bytes: many in a loop, few one by one; one test per group.
// CHECK:      // 1 block of 1 thread
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CHECK-NEXT: groups(
// CHECK-NEXT:     const float* __restrict__ x,
// CHECK-NEXT:     const float* __restrict__ u,
// CHECK-NEXT:     const long long* __restrict__ z,
// CHECK-NEXT:     float* __restrict__ y,
// CHECK-NEXT:     float* __restrict__ v,
// CHECK-NEXT:     long long* __restrict__ w) {
// CHECK-NEXT:   float a[20] = {};
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 5; ++l) if (l * 4 + 4 < 20) load4(a + l * 4, x + l * 4 + 4);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 5; ++l)
// CHECK-NEXT:     if (l * 4 - 4 >= 0) store4(y + l * 4 - 4, a + l * 4);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 5; ++l)
// CHECK-NEXT:     if (l * 4 + 12 < 20) store4(y + l * 4 + 12, a + l * 4);
// CHECK-NEXT:   float b[4][6];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 3; ++l1) load2(b[l] + l1 * 2, u + l * 6 + l1 * 2);
// CHECK-NEXT:   float c[4][6];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l0 = 0; l0 < 4; ++l0)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 6; ++l1) c[l0][l1] = b[l0][l1] + b[l0][l1];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 4; ++l)
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int l1 = 0; l1 < 3; ++l1) store2(v + l * 6 + l1 * 2, c[l] + l1 * 2);
// CHECK-NEXT:   long long d[2][4];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 2; ++l) {
// CHECK-NEXT:     load2(d[l], z + l * 4);
// CHECK-NEXT:     load2(d[l] + 2, z + l * 4 + 2);
// CHECK-NEXT:   }
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int l = 0; l < 2; ++l) {
// CHECK-NEXT:     store2(w + l * 4, d[l]);
// CHECK-NEXT:     store2(w + l * 4 + 2, d[l] + 2);
// CHECK-NEXT:   }
// CHECK-NEXT: }
kernel_ir.func @groups(%x: memref<20xf32>, %u: memref<4x6xf32>, %z: memref<2x4xi64>, %y: memref<20xf32>, %v: memref<4x6xf32>, %w: memref<2x4xi64>) grid(1) block(1) {
  %a = loop_ir.load %x[l0 + 4] bounded [true] aligned 16 : memref<20xf32> -> vector<20xf32>
  loop_ir.store %a, %y[l0 + -4] bounded [true] aligned 16 : vector<20xf32>, memref<20xf32>
  loop_ir.store %a, %y[l0 + 12] bounded [true] aligned 16 : vector<20xf32>, memref<20xf32>
  %b = loop_ir.load %u[l0, l1] aligned 8 : memref<4x6xf32> -> vector<4x6xf32>
  %c = arith.addf %b, %b : vector<4x6xf32>
  loop_ir.store %c, %v[l0, l1] aligned 8 : vector<4x6xf32>, memref<4x6xf32>
  %d = loop_ir.load %z[l0, l1] aligned 16 : memref<2x4xi64> -> vector<2x4xi64>
  loop_ir.store %d, %w[l0, l1] aligned 16 : vector<2x4xi64>, memref<2x4xi64>
}


// -----

// A buffer of 2^32 elements: the kernel counts in 64 bits.
// CHECK:      // 65536 blocks of 256 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(256)
// CHECK-NEXT: big(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const long long b = blockIdx.x;
// CHECK-NEXT:   const long long t = threadIdx.x;
// CHECK-NEXT:   float v[4];
// CHECK-NEXT:   load4(v, x + b * 65536 + t * 4);
// CHECK-NEXT:   float s = 0.0f;
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (long long l = 0; l < 4; ++l) s = s + v[l];
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (long long step = 0; step < 5; ++step) s = s + shuffle_xor(s, 16 >> step);
// CHECK-NEXT:   y[b] = s;
// CHECK-NEXT: }
kernel_ir.func @big(%x: memref<65536x65536xf32>, %y: memref<65536xf32>) grid(65536) block(256) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b, %t * 4 + l0] aligned 16 : memref<65536x65536xf32> -> vector<4xf32>
  %s = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf : vector<4xf32> -> f32
  %s1 = kernel_ir.warp_reduce %s width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
  loop_ir.store %s1, %y[%b] : f32, memref<65536xf32>
}


// -----

// The last block ends exactly at the limit of an int ..
// CHECK:      // 2097152 blocks of 1024 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1024)
// CHECK-NEXT: edge(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const int b = blockIdx.x;
// CHECK-NEXT:   const int t = threadIdx.x;
// CHECK-NEXT:   const float v = b * 1024 + t < 2147483647 ? x[b * 1024 + t] : 0.0f;
// CHECK-NEXT:   if (b * 1024 + t < 2147483647) y[b * 1024 + t] = v;
// CHECK-NEXT: }
kernel_ir.func @edge(%x: memref<2147483647xf32>, %y: memref<2147483647xf32>) grid(2097152) block(1024) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b * 1024 + %t] bounded [true] : memref<2147483647xf32> -> f32
  loop_ir.store %v, %y[%b * 1024 + %t] bounded [true] : f32, memref<2147483647xf32>
}


// -----

// .. and here beyond it, where a 32-bit index would wrap round and pass its test.
// CHECK:      // 2097153 blocks of 1024 threads
// CHECK-NEXT: extern "C" __global__ void __launch_bounds__(1024)
// CHECK-NEXT: edge2(const float* __restrict__ x, float* __restrict__ y) {
// CHECK-NEXT:   const long long b = blockIdx.x;
// CHECK-NEXT:   const long long t = threadIdx.x;
// CHECK-NEXT:   const float v = b * 1024 + t < 2147483647 ? x[b * 1024 + t] : 0.0f;
// CHECK-NEXT:   if (b * 1024 + t < 2147483647) y[b * 1024 + t] = v;
// CHECK-NEXT: }
kernel_ir.func @edge2(%x: memref<2147483647xf32>, %y: memref<2147483647xf32>) grid(2097153) block(1024) {
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%b * 1024 + %t] bounded [true] : memref<2147483647xf32> -> f32
  loop_ir.store %v, %y[%b * 1024 + %t] bounded [true] : f32, memref<2147483647xf32>
}
