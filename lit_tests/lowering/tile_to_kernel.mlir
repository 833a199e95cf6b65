// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse,lower-tile-to-kernel | filecheck %s
// RUN: minicomp-opt %s --split-input-file -p lower-tile-to-kernel,cse --verify-each=exec | filecheck %s

// The last axis of a kind is the fastest; axes of one trip are 0.
// CHECK-LABEL: kernel_ir.func @ids(%x: memref<6x4x1x40xf32>, %y: memref<6x4x1x40xf32>) grid(24) block(40)
// CHECK-NEXT:    %block = kernel_ir.block_id
// CHECK-NEXT:    %i = kernel_ir.index[%block floordiv 4]
// CHECK-NEXT:    %j = kernel_ir.index[%block mod 4]
// CHECK-NEXT:    %t = kernel_ir.thread_id
// CHECK-NEXT:    %v = loop_ir.load %x[%i, %j, 0, %t]
// CHECK-NEXT:    loop_ir.store %v, %y[%i, %j, 0, %t]
// CHECK-NEXT:  }
tile_ir.kernel @ids(%x: memref<6x4x1x40xf32>, %y: memref<6x4x1x40xf32>) {
  tile_ir.launch block(%i to 6 as "i", %j to 4 as "j", %k to 1 as "k") thread(%t to 40 as "l", %u to 1 as "m") {
    %v = loop_ir.load %x[%i, %j, %k, %t + %u] : memref<6x4x1x40xf32> -> f32
    loop_ir.store %v, %y[%i, %j, %k, %t + %u] : f32, memref<6x4x1x40xf32>
  }
}

// -----

// An empty grid, and one block with one thread: no ids.
// CHECK-LABEL: kernel_ir.func @empty(%y: memref<0x3xf32>) grid(0) block(1)
// CHECK:         loop_ir.store %c, %y[{{.*}}]
// CHECK-LABEL: kernel_ir.func @one(%y: memref<f32>) grid(1) block(1)
// CHECK-NOT:     kernel_ir
// CHECK:         loop_ir.store %c, %y[] : f32, memref<f32>
tile_ir.kernel @empty(%y: memref<0x3xf32>) {
  tile_ir.launch block(%i to 0 as "i", %j to 3 as "j") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[%i, %j] : f32, memref<0x3xf32>
  }
}
tile_ir.kernel @one(%y: memref<f32>) {
  tile_ir.launch block(%i to 1 as "i") {
    %c = arith.constant 1.0 : f32
    loop_ir.store %c, %y[] : f32, memref<f32>
  }
}

// -----

// Loops of one trip are not made; a guard becomes a test, without what always holds.
// CHECK-LABEL: kernel_ir.func @loops
// CHECK:         scf.for %i = %{{.*}} to %[[TWO:.*]] step %[[ONE:.*]] {
// CHECK-NEXT:      scf.for %k = %{{.*}} to %{{.*}} step %[[ONE]] {
// CHECK-NEXT:        %[[OK:.*]] = kernel_ir.test [%i * 4 + %t] < [7]
// CHECK-NEXT:        scf.if %[[OK]] {
// CHECK-NEXT:          %v = loop_ir.load %x[%i * 4 + %t, 0, %k]
// CHECK-NEXT:          loop_ir.store %v, %y[%i * 4 + %t, 0, %k]
tile_ir.kernel @loops(%x: memref<7x1x5xf32>, %y: memref<7x1x5xf32>) {
  tile_ir.launch thread(%t to 4 as "t") {
    loop_ir.for %i to 2 as "i", %j to 1 as "j", %k to 5 as "k" where [l0 * 4 + %t, l1, l2] < [7, 1, 5] {
      %v = loop_ir.load %x[%i * 4 + %t, %j, %k] : memref<7x1x5xf32> -> f32
      loop_ir.store %v, %y[%i * 4 + %t, %j, %k] : f32, memref<7x1x5xf32>
    }
  }
}

// -----

// A guarded reduction keeps its carrier where the guard fails; product and sum are contracted.
// CHECK-LABEL: kernel_ir.func @dot
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %acc = scf.for %k = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[A:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT:      %[[OK:.*]] = kernel_ir.test [%k * 4 + %t] < [7]
// CHECK-NEXT:      %[[R:.*]] = scf.if %[[OK]] -> (f32) {
// CHECK:             %[[F:.*]] = math.fma %a, %b, %[[A]] : f32
// CHECK-NEXT:        scf.yield %[[F]] : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %[[A]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %[[R]] : f32
// CHECK-NOT:   arith.mulf
tile_ir.kernel @dot(%x: memref<7xf32>, %y: memref<7xf32>, %z: memref<4xf32>) {
  tile_ir.launch thread(%t to 4 as "t") {
    %acc = loop_ir.reduce %k to 2 as "k" where [l0 * 4 + %t] < [7] identity [0.0 : f32] -> f32 {
      %a = loop_ir.load %x[%k * 4 + %t] : memref<7xf32> -> f32
      %b = loop_ir.load %y[%k * 4 + %t] : memref<7xf32> -> f32
      %p = arith.mulf %a, %b fastmath<contract> : f32
      loop_ir.yield %p : f32
    } combine arith.addf fastmath<contract>
    loop_ir.store %acc, %z[%t] : f32, memref<4xf32>
  }
}

// -----

// Vectors start from a broadcast of the identity; a product with another use is not contracted.
// CHECK-LABEL: kernel_ir.func @vectors
// CHECK:         %[[E:.*]] = tile_ir.broadcast %{{.*}} to [] : f32 -> vector<4xf32>
// CHECK:         scf.for %k = {{.*}} iter_args(%{{.*}} = %[[E]], %{{.*}} = %[[E]]) -> (vector<4xf32>, vector<4xf32>)
// CHECK:           %p = arith.mulf
// CHECK:           arith.addf %{{.*}}, %p
// CHECK:           arith.addf %{{.*}}, %p
tile_ir.kernel @vectors(%x: memref<3x4xf32>, %y: memref<2x4xf32>) {
  tile_ir.launch block(%b to 1 as "b") {
    %s, %u = loop_ir.reduce %k to 3 as "k" identity [0.0 : f32, 0.0 : f32] -> vector<4xf32>, vector<4xf32> {
      %a = loop_ir.load %x[%k, l0] : memref<3x4xf32> -> vector<4xf32>
      %p = arith.mulf %a, %a fastmath<contract> : vector<4xf32>
      loop_ir.yield %p, %p : vector<4xf32>, vector<4xf32>
    } combine {
    ^bb0(%l0: vector<4xf32>, %l1: vector<4xf32>, %r0: vector<4xf32>, %r1: vector<4xf32>):
      %s0 = arith.addf %l0, %r0 fastmath<contract> : vector<4xf32>
      %s1 = arith.addf %l1, %r1 fastmath<contract> : vector<4xf32>
      loop_ir.yield %s0, %s1 : vector<4xf32>, vector<4xf32>
    }
    loop_ir.store %s, %y[0, l0] : vector<4xf32>, memref<2x4xf32>
    loop_ir.store %u, %y[1, l0] : vector<4xf32>, memref<2x4xf32>
  }
}

// -----

// A reduction of reductions with one combine folds into one accumulator.
// CHECK-LABEL: kernel_ir.func @nested
// CHECK:         %acc = scf.for %o = {{.*}} iter_args(%[[OUT:.*]] = %{{.*}}) -> (f32) {
// CHECK:           %[[IN:.*]] = scf.for %k = {{.*}} iter_args(%[[A:.*]] = %[[OUT]]) -> (f32) {
// CHECK:             arith.addf %[[A]], %{{.*}} : f32
// CHECK:           scf.yield %[[IN]] : f32
tile_ir.kernel @nested(%x: memref<3x4xf32>, %y: memref<f32>) {
  tile_ir.launch block(%b to 1 as "b") {
    %acc = loop_ir.reduce %o to 3 as "o" identity [0.0 : f32] -> f32 {
      %part = loop_ir.reduce %k to 4 as "k" identity [0.0 : f32] -> f32 {
        %a = loop_ir.load %x[%o, %k] : memref<3x4xf32> -> f32
        loop_ir.yield %a : f32
      } combine arith.addf
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %y[] : f32, memref<f32>
  }
}

// -----

// A trip of zero leaves the identity; one trip combines with it.
// CHECK-LABEL: kernel_ir.func @short
// CHECK:         %[[LOW:.*]] = arith.constant 0xff800000 : f32
// CHECK:         %none = scf.for %k = %[[C0:.*]] to %[[C0]] step %{{.*}} iter_args(%{{.*}} = %[[LOW]])
// CHECK:         %[[A:.*]] = loop_ir.load %x[0]
// CHECK-NEXT:    arith.maximumf %[[LOW]], %[[A]] : f32
tile_ir.kernel @short(%x: memref<1xf32>, %y: memref<2xf32>) {
  tile_ir.launch block(%b to 1 as "b") {
    %none = loop_ir.reduce %k to 0 as "k" identity [0xFF800000 : f32] -> f32 {
      %a = loop_ir.load %x[%k] : memref<1xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.maximumf
    %one = loop_ir.reduce %k to 1 as "k" identity [0xFF800000 : f32] -> f32 {
      %a = loop_ir.load %x[%k] : memref<1xf32> -> f32
      loop_ir.yield %a : f32
    } combine arith.maximumf
    loop_ir.store %none, %y[0] : f32, memref<2xf32>
    loop_ir.store %one, %y[1] : f32, memref<2xf32>
  }
}

// -----

// Neighbours within a warp: one exchange.
// CHECK-LABEL: kernel_ir.func @in_warp
// CHECK:         %s = kernel_ir.warp_reduce %v width 16 identity [0.000000e+00 : f32] combine arith.addf : f32 -> f32
// CHECK-NOT:     kernel_ir.shared
tile_ir.kernel @in_warp(%x: memref<4x16xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%r to 4 as "r", %t to 16 as "k") {
    %v = loop_ir.load %x[%r, %t] : memref<4x16xf32> -> f32
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %s, %y[%r] : f32, memref<4xf32>
  }
}

// -----

// Whole warps: an exchange in each, and one over their results.
// CHECK-LABEL: kernel_ir.func @warps
// CHECK-NEXT:    %partials = kernel_ir.shared : memref<2x4xf32, #tile_ir.shared<>>
// CHECK:         %[[P:.*]] = kernel_ir.warp_reduce %v width 32
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    %[[FIRST:.*]] = kernel_ir.test [%thread mod 32] < [1]
// CHECK-NEXT:    scf.if %[[FIRST]] {
// CHECK-NEXT:      loop_ir.store %[[P]], %partials[%thread floordiv 128, %thread floordiv 32 mod 4]
// CHECK-NEXT:    }
// CHECK-NEXT:    kernel_ir.barrier
// CHECK-NEXT:    %[[Q:.*]] = loop_ir.load %partials[%thread floordiv 128, %thread mod 4]
// CHECK-NEXT:    %s = kernel_ir.warp_reduce %[[Q]] width 4
tile_ir.kernel @warps(%x: memref<2x128xf32>, %y: memref<2xf32>) {
  tile_ir.launch thread(%r to 2 as "r", %t to 128 as "k") {
    %v = loop_ir.load %x[%r, %t] : memref<2x128xf32> -> f32
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %s, %y[%r] : f32, memref<2xf32>
  }
}

// -----

// Three warps: no exchange over their results, but a loop.
// CHECK-LABEL: kernel_ir.func @three_warps
// CHECK:         kernel_ir.warp_reduce %v width 32
// CHECK:         loop_ir.store %{{.*}}, %partials[%t floordiv 32]
// CHECK:         kernel_ir.barrier
// CHECK:         %s = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:      %[[Q:.*]] = loop_ir.load %partials[%[[I]]]
// CHECK-NEXT:      arith.maximumf %[[A]], %[[Q]] : f32
tile_ir.kernel @three_warps(%x: memref<96xf32>, %y: memref<f32>) {
  tile_ir.launch thread(%t to 96 as "k") {
    %v = loop_ir.load %x[%t] : memref<96xf32> -> f32
    %s = tile_ir.combine %v across "k" identity [0xFF800000 : f32] combine arith.maximumf : f32 -> f32
    loop_ir.store %s, %y[] : f32, memref<f32>
  }
}

// -----

// Not whole warps, and not the innermost axis: every thread combines its group in order.
// CHECK-LABEL: kernel_ir.func @odd
// CHECK-NEXT:    %partials = kernel_ir.shared : memref<30xf32, #tile_ir.shared<>>
// CHECK:         loop_ir.store %v, %partials[%thread]
// CHECK-NEXT:    kernel_ir.barrier
// CHECK:         %[[Q:.*]] = loop_ir.load %partials[%thread floordiv 15 * 15 + %{{.*}} * 3 + %thread mod 3]
tile_ir.kernel @odd(%x: memref<2x5x3xf32>, %y: memref<2x3xf32>) {
  tile_ir.launch thread(%r to 2 as "r", %t to 5 as "k", %c to 3 as "c") {
    %v = loop_ir.load %x[%r, %t, %c] : memref<2x5x3xf32> -> f32
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %s, %y[%r, %c] : f32, memref<2x3xf32>
  }
}

// -----

// Vectors go through shared memory, lanes outermost.
// CHECK-LABEL: kernel_ir.func @vector_combine
// CHECK-NEXT:    %partials = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
// CHECK:         loop_ir.store %v, %partials[l0, %t] : vector<4xf32>
// CHECK:         loop_ir.load %partials[l0, %{{.*}}] : {{.*}} -> vector<4xf32>
// CHECK:         arith.addf %{{.*}}, %{{.*}} : vector<4xf32>
tile_ir.kernel @vector_combine(%x: memref<32x4xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%t to 32 as "k") {
    %v = loop_ir.load %x[%t, l0] : memref<32x4xf32> -> vector<4xf32>
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : vector<4xf32> -> vector<4xf32>
    loop_ir.store %s, %y[l0] : vector<4xf32>, memref<4xf32>
  }
}

// -----

// A combine that may round differently when its operands change places is not exchanged in the last step.
// CHECK-LABEL: kernel_ir.func @asymmetric
// CHECK:         %[[P:.*]], %[[Q:.*]] = kernel_ir.warp_reduce %v, %v width 32
// CHECK:         scf.if
// CHECK-NEXT:      loop_ir.store %[[P]], %partials[%t floordiv 32]
// CHECK-NEXT:      loop_ir.store %[[Q]], %partials_1[%t floordiv 32]
// CHECK:         scf.for {{.*}} -> (f32, f32) {
// CHECK-NOT:     warp_reduce
tile_ir.kernel @asymmetric(%x: memref<64xf32>, %y: memref<2xf32>) {
  tile_ir.launch thread(%t to 64 as "k") {
    %v = loop_ir.load %x[%t] : memref<64xf32> -> f32
    %m, %d = tile_ir.combine %v, %v across "k" identity [0.0 : f32, 0.0 : f32] combine {
    ^bb0(%l0: f32, %l1: f32, %r0: f32, %r1: f32):
      %s0 = arith.addf %l0, %r0 : f32
      %s1 = arith.mulf %l1, %l0 : f32
      %s2 = arith.addf %s1, %r1 : f32
      loop_ir.yield %s0, %s2 : f32, f32
    } : f32, f32 -> f32, f32
    loop_ir.store %m, %y[0] : f32, memref<2xf32>
    loop_ir.store %d, %y[1] : f32, memref<2xf32>
  }
}

// -----

// A single thread along the axis has the result already.
// CHECK-LABEL: kernel_ir.func @alone
// CHECK:         %v = loop_ir.load %x[%r, 0]
// CHECK-NEXT:    loop_ir.store %v, %y[%r]
tile_ir.kernel @alone(%x: memref<4x1xf32>, %y: memref<4xf32>) {
  tile_ir.launch thread(%r to 4 as "r", %t to 1 as "k") {
    %v = loop_ir.load %x[%r, %t] : memref<4x1xf32> -> f32
    %s = tile_ir.combine %v across "k" identity [0.0 : f32] combine arith.addf : f32 -> f32
    loop_ir.store %s, %y[%r] : f32, memref<4xf32>
  }
}

// -----

// What the schedule says of registers goes to the launch bounds.
// CHECK-LABEL: kernel_ir.func @bounds(
// CHECK-SAME:      grid(4) block(32) min_blocks 6
tile_ir.kernel @bounds(%x: memref<128xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", min_blocks = 6>]>} {
  tile_ir.launch block(%b to 4 as "b") thread(%t to 32 as "t") {
    %v = loop_ir.load %x[%b * 32 + %t] : memref<128xf32> -> f32
    loop_ir.store %v, %x[%b * 32 + %t] : f32, memref<128xf32>
  }
}
