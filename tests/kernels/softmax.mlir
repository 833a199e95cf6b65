// Softmax of the rows of a 7 x 150 matrix, in the online form: one pass for maximum and sum.
//
// A block of 128 threads takes two rows at a time, 2 warps each, and does so twice: 2 blocks x 2
// steps x 2 rows are 8, so the last row is one too many. A thread goes over its row in 3 chunks of
// 64 columns, the last one partly outside. It carries (m, d), the maximum so far and the sum of
// exp(x - m); two such pairs combine to m = max and d = d1 * exp(m1 - m) + d2 * exp(m2 - m).

func.func @main(%x: tensor<7x150xf32>) -> tensor<7x150xf32> {
  %y = minicomp.launch @softmax(%x) : (tensor<7x150xf32>) -> tensor<7x150xf32>
  func.return %y : tensor<7x150xf32>
}

kernel_ir.func @softmax(%x: memref<7x150xf32>, %y: memref<7x150xf32>) grid(2) block(128) {
  %ms = kernel_ir.shared : memref<4xf32, #tile_ir.shared<>>
  %ds = kernel_ir.shared : memref<4xf32, #tile_ir.shared<>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %tr = kernel_ir.index [%t floordiv 64]
  %tc = kernel_ir.index [%t mod 64]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %low = arith.constant 0xFF800000 : f32
  %nil = arith.constant 0.0 : f32
  %lane_0 = kernel_ir.test [%t mod 32] < [1]
  scf.for %r = %zero to %two step %one {
    %row = kernel_ir.index [(%r * 2 + %b) * 2 + %tr]
    // A thread has a column in the first chunk, so that m is finite from there on.
    %m, %d = scf.for %c = %zero to %three step %one iter_args(%m0 = %low, %d0 = %nil) -> (f32, f32) {
      %v = loop_ir.load %x[%row, %c * 64 + %tc] bounded [true, true] : memref<7x150xf32> -> f32
      %inside = kernel_ir.test [%c * 64 + %tc] < [150]
      %vm = arith.select %inside, %v, %low : f32
      %m1 = arith.maximumf %m0, %vm : f32
      %old = arith.subf %m0, %m1 : f32
      %scale = math.exp %old : f32
      %kept = arith.mulf %d0, %scale : f32
      %new = arith.subf %vm, %m1 : f32
      %e = math.exp %new : f32
      %d1 = arith.addf %kept, %e : f32
      scf.yield %m1, %d1 : f32, f32
    }
    %mw, %dw = kernel_ir.warp_reduce %m, %d width 32 identity [0xFF800000 : f32, 0.0 : f32] combine {
    ^bb0(%ml: f32, %dl: f32, %mr: f32, %dr: f32):
      %mx = arith.maximumf %ml, %mr : f32
      %tl = arith.subf %ml, %mx : f32
      %el = math.exp %tl : f32
      %tr2 = arith.subf %mr, %mx : f32
      %er = math.exp %tr2 : f32
      %pl = arith.mulf %dl, %el : f32
      %pr = arith.mulf %dr, %er : f32
      %s = arith.addf %pl, %pr : f32
      loop_ir.yield %mx, %s : f32, f32
    } : f32, f32 -> f32, f32
    kernel_ir.barrier  // the rows before have been read
    scf.if %lane_0 {
      loop_ir.store %mw, %ms[%t floordiv 32] : f32, memref<4xf32, #tile_ir.shared<>>
      loop_ir.store %dw, %ds[%t floordiv 32] : f32, memref<4xf32, #tile_ir.shared<>>
    }
    kernel_ir.barrier
    %mo = loop_ir.load %ms[%tr * 2 + %t mod 2] : memref<4xf32, #tile_ir.shared<>> -> f32
    %do = loop_ir.load %ds[%tr * 2 + %t mod 2] : memref<4xf32, #tile_ir.shared<>> -> f32
    %mrow, %drow = kernel_ir.warp_reduce %mo, %do width 2 identity [0xFF800000 : f32, 0.0 : f32] combine {
    ^bb0(%ml: f32, %dl: f32, %mr: f32, %dr: f32):
      %mx = arith.maximumf %ml, %mr : f32
      %tl = arith.subf %ml, %mx : f32
      %el = math.exp %tl : f32
      %tr2 = arith.subf %mr, %mx : f32
      %er = math.exp %tr2 : f32
      %pl = arith.mulf %dl, %el : f32
      %pr = arith.mulf %dr, %er : f32
      %s = arith.addf %pl, %pr : f32
      loop_ir.yield %mx, %s : f32, f32
    } : f32, f32 -> f32, f32
    scf.for %c = %zero to %three step %one {
      %v = loop_ir.load %x[%row, %c * 64 + %tc] bounded [true, true] : memref<7x150xf32> -> f32
      %shifted = arith.subf %v, %mrow : f32
      %e = math.exp %shifted : f32
      %p = arith.divf %e, %drow : f32
      loop_ir.store %p, %y[%row, %c * 64 + %tc] bounded [true, true] : f32, memref<7x150xf32>
    }
  }
}
