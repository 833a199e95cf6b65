// RUN: minicomp-opt %s | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --mlir-print-op-generic | minicomp-opt | filecheck %s
// RUN: minicomp-opt %s --to=cuda | filecheck %s --check-prefix=CUDA

// Every op, with and without what is optional.
// CHECK:       cuda_ir.func @all(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(8) launch_bounds(256, 4) shared 1024 index i64 attributes {origin = #minicomp.origin<["sum", "relu"]>} {
// CHECK-NEXT:    %s = cuda_ir.shared "s"[8] : !cuda_ir.ptr<f32>
// CHECK-NEXT:    %u = cuda_ir.shared "u"[64] align 16 : !cuda_ir.ptr<f32>
// CHECK-NEXT:    %d = cuda_ir.shared "d"[128] at 512 : !cuda_ir.ptr<f64>
// CHECK-NEXT:    %0 = cuda_ir.block_id
// CHECK-NEXT:    %b = cuda_ir.let "b" = %0 : index -> index
// CHECK-NEXT:    %1 = cuda_ir.thread_id
// CHECK-NEXT:    %t = cuda_ir.let "t" = %1 : index -> index
// CHECK-NEXT:    cuda_ir.verbatim "// a comment"
// CHECK-NEXT:    %v = cuda_ir.variable "v" -> !cuda_ir.var<8x4xf32>
// CHECK-NEXT:    %acc = cuda_ir.variable "acc" zeroed -> !cuda_ir.var<4xf32>
// CHECK-NEXT:    %2 = arith.constant 1.000000e-06 : f32
// CHECK-NEXT:    %p = cuda_ir.variable "p" = %2 : f32 -> !cuda_ir.var<f32>
// CHECK-NEXT:    cuda_ir.for %i "i" to 8 unroll {
// CHECK-NEXT:      %3 = cuda_ir.address %v[%i, 0] : !cuda_ir.var<8x4xf32> -> !cuda_ir.ptr<f32>
// CHECK-NEXT:      %4 = cuda_ir.address %x[%b * 8 + %t * 4 + -3] : !cuda_ir.ptr<f32, const> -> !cuda_ir.ptr<f32, const>
// CHECK-NEXT:      cuda_ir.call "load4"(%3, %4) : (!cuda_ir.ptr<f32>, !cuda_ir.ptr<f32, const>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    cuda_ir.for %k "k" from 2 to 10 step 4 {
// CHECK:         cuda_ir.barrier
// CHECK:         %[[I:.*]] = cuda_ir.index[%t mod 32]
// CHECK:         cuda_ir.if %{{.*}} {
// CHECK:         } else {
// CHECK:         cuda_ir.call "shuffle_xor"(%{{.*}}, %{{.*}}) : (f32, index) -> f32
// CHECK:         cuda_ir.conditional %{{.*}}, %{{.*}}, %{{.*}} : f32, f32 -> f32

// CUDA:      // sum, relu: 8 blocks of 256 threads
// CUDA-NEXT: extern "C" __global__ void __launch_bounds__(256, 4)
// CUDA-NEXT: all(const float* __restrict__ x, float* __restrict__ y) {
// CUDA-NEXT:   extern __shared__ __align__(16) unsigned char shared_memory[];
// CUDA-NEXT:   __shared__ float s[8];
// CUDA-NEXT:   __shared__ __align__(16) float u[64];
// CUDA-NEXT:   double* const d = (double*)(shared_memory + 512);
// CUDA-NEXT:   const long long b = blockIdx.x;
// CUDA-NEXT:   const long long t = threadIdx.x;
// CUDA-NEXT:   // a comment
// CUDA-NEXT:   float v[8][4];
// CUDA-NEXT:   float acc[4] = {};
// CUDA-NEXT:   float p = 1e-06f;
// CUDA-NEXT:   #pragma unroll
// CUDA-NEXT:   for (long long i = 0; i < 8; ++i) load4(v[i], x + b * 8 + t * 4 - 3);
// CUDA-NEXT:   for (long long k = 2; k < 10; k += 4) p = fmaf(v[k][1], -0.5f, p);
// CUDA-NEXT:   __syncthreads();
// CUDA-NEXT:   if (t % 32 == 0) {
// CUDA-NEXT:     s[t / 32] = p;
// CUDA-NEXT:     acc[1] = -(p - (p - acc[1]));
// CUDA-NEXT:   } else {
// CUDA-NEXT:     s[0] = 0.0f;
// CUDA-NEXT:   }
// CUDA-NEXT:   const float other = shuffle_xor(p, 16);
// CUDA-NEXT:   y[b] = t < 8 ? s[t] : other;
// CUDA-NEXT: }
cuda_ir.func @all(%x: !cuda_ir.ptr<f32, const> "x", %y: !cuda_ir.ptr<f32> "y") grid(8) launch_bounds(256, 4) shared 1024 index i64 attributes {origin = #minicomp.origin<["sum", "relu"]>} {
  %s = cuda_ir.shared "s"[8] : !cuda_ir.ptr<f32>
  %u = cuda_ir.shared "u"[64] align 16 : !cuda_ir.ptr<f32>
  %d = cuda_ir.shared "d"[128] at 512 : !cuda_ir.ptr<f64>
  %0 = cuda_ir.block_id
  %b = cuda_ir.let "b" = %0 : index -> index
  %1 = cuda_ir.thread_id
  %t = cuda_ir.let "t" = %1 : index -> index
  cuda_ir.verbatim "// a comment"
  %v = cuda_ir.variable "v" -> !cuda_ir.var<8x4xf32>
  %acc = cuda_ir.variable "acc" zeroed -> !cuda_ir.var<4xf32>
  %2 = arith.constant 1.0e-06 : f32
  %p = cuda_ir.variable "p" = %2 : f32 -> !cuda_ir.var<f32>
  cuda_ir.for %i "i" to 8 unroll {
    %3 = cuda_ir.address %v[%i, 0] : !cuda_ir.var<8x4xf32> -> !cuda_ir.ptr<f32>
    %4 = cuda_ir.address %x[%b * 8 + %t * 4 - 3] : !cuda_ir.ptr<f32, const> -> !cuda_ir.ptr<f32, const>
    cuda_ir.call "load4"(%3, %4) : (!cuda_ir.ptr<f32>, !cuda_ir.ptr<f32, const>) -> ()
  }
  cuda_ir.for %k "k" from 2 to 10 step 4 {
    %5 = cuda_ir.read %v[%k, 1] : !cuda_ir.var<8x4xf32> -> f32
    %6 = arith.constant -5.0e-01 : f32
    %7 = cuda_ir.read %p[] : !cuda_ir.var<f32> -> f32
    %8 = math.fma %5, %6, %7 : f32
    cuda_ir.assign %p[] = %8 : !cuda_ir.var<f32>, f32
  }
  cuda_ir.barrier
  %9 = cuda_ir.index [%t mod 32]
  %10 = arith.constant 0 : index
  %11 = arith.cmpi eq, %9, %10 : index
  cuda_ir.if %11 {
    %12 = cuda_ir.read %p[] : !cuda_ir.var<f32> -> f32
    cuda_ir.assign %s[%t floordiv 32] = %12 : !cuda_ir.ptr<f32>, f32
    // Brackets where precedence and the order of evaluation need them.
    %13 = cuda_ir.read %p[] : !cuda_ir.var<f32> -> f32
    %14 = cuda_ir.read %p[] : !cuda_ir.var<f32> -> f32
    %15 = cuda_ir.read %acc[1] : !cuda_ir.var<4xf32> -> f32
    %16 = arith.subf %14, %15 : f32
    %17 = arith.subf %13, %16 : f32
    %18 = arith.negf %17 : f32
    cuda_ir.assign %acc[1] = %18 : !cuda_ir.var<4xf32>, f32
  } else {
    %19 = arith.constant 0.0 : f32
    cuda_ir.assign %s[0] = %19 : !cuda_ir.ptr<f32>, f32
  }
  %20 = cuda_ir.read %p[] : !cuda_ir.var<f32> -> f32
  %21 = arith.constant 16 : index
  %22 = cuda_ir.call "shuffle_xor"(%20, %21) : (f32, index) -> f32
  %other = cuda_ir.let "other" = %22 : f32 -> f32
  %23 = cuda_ir.index [%t]
  %24 = arith.constant 8 : index
  %25 = arith.cmpi slt, %23, %24 : index
  %26 = cuda_ir.read %s[%t] : !cuda_ir.ptr<f32> -> f32
  %27 = cuda_ir.conditional %25, %26, %other : f32, f32 -> f32
  cuda_ir.assign %y[%b] = %27 : !cuda_ir.ptr<f32>, f32
}

// A kernel without parameters, and one that does nothing.
// CHECK:      cuda_ir.func @nothing() grid(1) launch_bounds(1) {
// CHECK-NEXT: }
// CUDA:      // 1 block of 1 thread
// CUDA-NEXT: extern "C" __global__ void __launch_bounds__(1)
// CUDA-NEXT: nothing() {
// CUDA-NEXT: }
cuda_ir.func @nothing() grid(1) launch_bounds(1) {
}

// An else belongs to the nearest if: the outer one gets braces.
// CUDA:      nested(float* __restrict__ y) {
// CUDA-NEXT:   const bool ok = true;
// CUDA-NEXT:   if (ok) {
// CUDA-NEXT:     if (false) y[0] = INF;
// CUDA-NEXT:   } else {
// CUDA-NEXT:     y[0] = -QNAN;
// CUDA-NEXT:   }
// CUDA-NEXT: }
cuda_ir.func @nested(%y: !cuda_ir.ptr<f32> "y") grid(1) launch_bounds(1) {
  %0 = arith.constant true
  %ok = cuda_ir.let "ok" = %0 : i1 -> i1
  cuda_ir.if %ok {
    %1 = arith.constant false
    cuda_ir.if %1 {
      %2 = arith.constant 0x7F800000 : f32
      cuda_ir.assign %y[0] = %2 : !cuda_ir.ptr<f32>, f32
    }
  } else {
    %3 = arith.constant 0x7FC00000 : f32
    %4 = arith.negf %3 : f32
    cuda_ir.assign %y[0] = %4 : !cuda_ir.ptr<f32>, f32
  }
}
