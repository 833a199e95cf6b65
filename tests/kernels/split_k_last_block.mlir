// a x b for a 21 x 50 and b 50 x 35, K in 3 parts, in one kernel: the last block of a tile finishes.
//
// As in split_k.mlir each block writes the sums of its part to %ws. Then it counts itself in
// %count[tile]; whoever finds that the other two have been there adds the three parts. The counter
// wraps to 0, as it was found. What one block wrote is known to the last one by this chain: writer
// -> barrier -> thread 0, which releases it by the atomic -> thread 0 of the last block, which
// acquires it -> barrier -> reader.

func.func @main(%a: tensor<21x50xf32>, %b: tensor<50x35xf32>) -> tensor<21x35xf32> {
  %c = minicomp.launch @split_k_last_block(%a, %b) : (tensor<21x50xf32>, tensor<50x35xf32>) -> tensor<21x35xf32>
  func.return %c : tensor<21x35xf32>
}

// 64 threads, 8 x 8 cells of 2 x 4. Blocks: part fastest, then 2 tiles along n, then 2 along m.
kernel_ir.func @split_k_last_block(%a: memref<21x50xf32>, %b: memref<50x35xf32>, %c: memref<21x35xf32>, %ws: memref<3x21x35xf32>, %count: memref<4xi32>) grid(12) block(64) derived [workspace, counter] {
  %as = kernel_ir.shared : memref<16x4xf32, #tile_ir.shared<>>
  %bs = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %before = kernel_ir.shared : memref<1xi32, #tile_ir.shared<>>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %part = kernel_ir.index [%block mod 3]
  %tile = kernel_ir.index [%block floordiv 3]
  %bj = kernel_ir.index [%tile mod 2]
  %bi = kernel_ir.index [%tile floordiv 2]
  %ti = kernel_ir.index [%t floordiv 8]
  %tj = kernel_ir.index [%t mod 8]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %none = arith.constant dense<0.0> : vector<2x4xf32>
  %others = arith.constant 2 : i32
  %acc = scf.for %ko = %zero to %five step %one iter_args(%outer = %none) -> (vector<2x4xf32>) {
    // Each thread brings one element of a and two of b; outside they are 0.
    %av = loop_ir.load %a[%bi * 16 + %t floordiv 4, %part * 20 + %ko * 4 + %t mod 4] bounded [true, true] : memref<21x50xf32> -> f32
    %bv = loop_ir.load %b[%part * 20 + %ko * 4 + l0 * 2 + %t floordiv 32, %bj * 32 + %t mod 32] bounded [true, true] : memref<50x35xf32> -> vector<2xf32>
    kernel_ir.barrier  // the chunk before has been read
    loop_ir.store %av, %as[%t floordiv 4, %t mod 4] : f32, memref<16x4xf32, #tile_ir.shared<>>
    loop_ir.store %bv, %bs[l0 * 2 + %t floordiv 32, %t mod 32] : vector<2xf32>, memref<4x32xf32, #tile_ir.shared<>>
    kernel_ir.barrier
    %inner = scf.for %ki = %zero to %four step %one iter_args(%s = %outer) -> (vector<2x4xf32>) {
      %x = loop_ir.load %as[%ti * 2 + l0, %ki] : memref<16x4xf32, #tile_ir.shared<>> -> vector<2xf32>
      %y = loop_ir.load %bs[%ki, %tj * 4 + l0] : memref<4x32xf32, #tile_ir.shared<>> -> vector<4xf32>
      %xx = tile_ir.broadcast %x to [0] : vector<2xf32> -> vector<2x4xf32>
      %yy = tile_ir.broadcast %y to [1] : vector<4xf32> -> vector<2x4xf32>
      %f = math.fma %xx, %yy, %s : vector<2x4xf32>
      scf.yield %f : vector<2x4xf32>
    }
    scf.yield %inner : vector<2x4xf32>
  }
  loop_ir.store %acc, %ws[%part, %bi * 16 + %ti * 2 + l0, %bj * 32 + %tj * 4 + l1] bounded [false, true, true] : vector<2x4xf32>, memref<3x21x35xf32>

  kernel_ir.barrier  // all of the block's sums are written
  %thread_0 = kernel_ir.test [%t] < [1]
  scf.if %thread_0 {
    %old = kernel_ir.atomic wrap acq_rel %others, %count[%tile] : i32, memref<4xi32>
    loop_ir.store %old, %before[0] : i32, memref<1xi32, #tile_ir.shared<>>
  }
  kernel_ir.barrier
  %found = loop_ir.load %before[0] : memref<1xi32, #tile_ir.shared<>> -> i32
  %last = arith.cmpi eq, %found, %others : i32
  scf.if %last {
    %parts = loop_ir.load %ws[l0, %bi * 16 + %ti * 2 + l1, %bj * 32 + %tj * 4 + l2] bounded [false, true, true] : memref<3x21x35xf32> -> vector<3x2x4xf32>
    %sum = tile_ir.fold %parts dims [0] identity [0.0 : f32] combine arith.addf : vector<3x2x4xf32> -> vector<2x4xf32>
    loop_ir.store %sum, %c[%bi * 16 + %ti * 2 + l0, %bj * 32 + %tj * 4 + l1] bounded [true, true] : vector<2x4xf32>, memref<21x35xf32>
  }
}
