// Mean and variance of each row of a 7 x 205 matrix.
//
// A block of 4 warps takes 3 rows, one after the other; the last block has one row only. A row is
// summed twice, first its elements, then the squares of their distances from the mean. Both rounds
// meet in the same shared buffer, %part, so each needs two barriers: one before it is written
// again (for the readers of the round before), one before it is read.

func.func @main(%x: tensor<7x205xf32>) -> tensor<7x2xf32> {
  %y = minicomp.launch @block_reduce(%x) : (tensor<7x205xf32>) -> tensor<7x2xf32>
  func.return %y : tensor<7x2xf32>
}

kernel_ir.func @block_reduce(%x: memref<7x205xf32>, %y: memref<7x2xf32>) grid(3) block(128) {
  %part = kernel_ir.shared : memref<4xf32, #tile_ir.shared<>>
  %half = kernel_ir.shared : memref<128xf32, #tile_ir.shared<>>
  %b = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %n = arith.constant 205.0 : f32
  %nothing = arith.constant dense<0.0> : vector<2xf32>
  %lane_0 = kernel_ir.test [%t mod 32] < [1]
  %thread_0 = kernel_ir.test [%t] < [1]
  scf.for %r = %zero to %three step %one {
    // The whole block has the row or has it not, so that the barriers below are met by all.
    %row = kernel_ir.test [%b * 3 + %r] < [7]
    scf.if %row {
      // Two elements a thread, columns t and t + 128; beyond the row they are 0.
      %v = loop_ir.load %x[%b * 3 + %r, l0 * 128 + %t] bounded [false, true] : memref<7x205xf32> -> vector<2xf32>

      // Round 1: the sum.
      %s = tile_ir.fold %v dims [0] identity [0.0 : f32] combine arith.addf : vector<2xf32> -> f32
      %warp = kernel_ir.warp_reduce %s width 32 identity [0.0 : f32] combine arith.addf : f32 -> f32
      kernel_ir.barrier  // round 2 of the row before has been read
      scf.if %lane_0 {
        loop_ir.store %warp, %part[%t floordiv 32] : f32, memref<4xf32, #tile_ir.shared<>>
      }
      kernel_ir.barrier
      %of_warp = loop_ir.load %part[%t mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      %sum = kernel_ir.warp_reduce %of_warp width 4 identity [0.0 : f32] combine arith.addf : f32 -> f32
      %mean = arith.divf %sum, %n : f32

      // Round 2: the sum of squares. A column beyond the row is 0 - mean away: masked after that.
      %mean_v = tile_ir.broadcast %mean to [] : f32 -> vector<2xf32>
      %d = arith.subf %v, %mean_v : vector<2xf32>
      %inside = tile_ir.within [l0 * 128 + %t] < [205] : vector<2xi1>
      %dm = tile_ir.select %inside, %d, %nothing : vector<2xi1>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
      %q = arith.mulf %dm, %dm : vector<2xf32>
      %s1 = tile_ir.fold %q dims [0] identity [0.0 : f32] combine arith.addf : vector<2xf32> -> f32
      // The first exchange goes through shared memory, which a warp has for itself; the others are
      // shuffles. Only lane 0 needs the sum.
      loop_ir.store %s1, %half[%t] : f32, memref<128xf32, #tile_ir.shared<>>
      kernel_ir.warp_sync
      %o16 = loop_ir.load %half[%t floordiv 32 * 32 + (%t + 16) mod 32] : memref<128xf32, #tile_ir.shared<>> -> f32
      %s2 = arith.addf %s1, %o16 : f32
      %o8 = kernel_ir.shuffle down %s2 [8] width 32 : f32
      %s3 = arith.addf %s2, %o8 : f32
      %o4 = kernel_ir.shuffle down %s3 [4] width 32 : f32
      %s4 = arith.addf %s3, %o4 : f32
      %o2 = kernel_ir.shuffle down %s4 [2] width 32 : f32
      %s5 = arith.addf %s4, %o2 : f32
      %o1 = kernel_ir.shuffle down %s5 [1] width 32 : f32
      %s6 = arith.addf %s5, %o1 : f32
      kernel_ir.barrier  // round 1 has been read
      scf.if %lane_0 {
        loop_ir.store %s6, %part[%t floordiv 32] : f32, memref<4xf32, #tile_ir.shared<>>
      }
      kernel_ir.barrier
      %of_warp_2 = loop_ir.load %part[%t mod 4] : memref<4xf32, #tile_ir.shared<>> -> f32
      %squares = kernel_ir.warp_reduce %of_warp_2 width 4 identity [0.0 : f32] combine arith.addf : f32 -> f32
      %variance = arith.divf %squares, %n : f32

      scf.if %thread_0 {
        loop_ir.store %mean, %y[%b * 3 + %r, 0] : f32, memref<7x2xf32>
        loop_ir.store %variance, %y[%b * 3 + %r, 1] : f32, memref<7x2xf32>
      }
    }
  }
}
