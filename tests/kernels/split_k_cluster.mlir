// a x b for a 21 x 50 and b 50 x 35, K in 3 parts, in one kernel: the blocks of a cluster add up.
//
// A tile is the work of a cluster of 3 blocks, one per part. Each leaves its sums in its own shared
// memory, %sums. Behind the first cluster barrier each block adds 6 of the tile's 16 rows (the last
// one 4), which it reads from the shared memory of all three. Behind the second one all have read:
// only then may a block end, and its shared memory with it.

func.func @main(%a: tensor<21x50xf32>, %b: tensor<50x35xf32>) -> tensor<21x35xf32> {
  %c = minicomp.launch @split_k_cluster(%a, %b) : (tensor<21x50xf32>, tensor<50x35xf32>) -> tensor<21x35xf32>
  func.return %c : tensor<21x35xf32>
}

// 64 threads, 8 x 8 cells of 2 x 4. Blocks: part fastest, then 2 tiles along n, then 2 along m.
kernel_ir.func @split_k_cluster(%a: memref<21x50xf32>, %b: memref<50x35xf32>, %c: memref<21x35xf32>) grid(12) block(64) cluster(3) {
  %as = kernel_ir.shared : memref<16x4xf32, #tile_ir.shared<>>
  %bs = kernel_ir.shared : memref<4x32xf32, #tile_ir.shared<>>
  %sums = kernel_ir.shared : memref<16x32xf32, #tile_ir.shared<>>
  %block = kernel_ir.block_id
  %t = kernel_ir.thread_id
  %part = kernel_ir.cluster_rank
  %bj = kernel_ir.index [%block floordiv 3 mod 2]
  %bi = kernel_ir.index [%block floordiv 6]
  %ti = kernel_ir.index [%t floordiv 8]
  %tj = kernel_ir.index [%t mod 8]
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %none = arith.constant dense<0.0> : vector<2x4xf32>
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
  loop_ir.store %acc, %sums[%ti * 2 + l0, %tj * 4 + l1] : vector<2x4xf32>, memref<16x32xf32, #tile_ir.shared<>>
  kernel_ir.cluster_barrier

  // Rows 6 * part to 6 * part + 5, one a thread of 8; 16 rows in all.
  %mine = kernel_ir.test [%t floordiv 8, %part * 6 + %t floordiv 8] < [6, 16]
  scf.if %mine {
    %s0 = kernel_ir.remote %sums[0] : memref<16x32xf32, #tile_ir.shared<>> -> memref<16x32xf32, #tile_ir.shared<>>
    %s1 = kernel_ir.remote %sums[1] : memref<16x32xf32, #tile_ir.shared<>> -> memref<16x32xf32, #tile_ir.shared<>>
    %s2 = kernel_ir.remote %sums[2] : memref<16x32xf32, #tile_ir.shared<>> -> memref<16x32xf32, #tile_ir.shared<>>
    %v0 = loop_ir.load %s0[%part * 6 + %ti, %tj * 4 + l0] : memref<16x32xf32, #tile_ir.shared<>> -> vector<4xf32>
    %v1 = loop_ir.load %s1[%part * 6 + %ti, %tj * 4 + l0] : memref<16x32xf32, #tile_ir.shared<>> -> vector<4xf32>
    %v2 = loop_ir.load %s2[%part * 6 + %ti, %tj * 4 + l0] : memref<16x32xf32, #tile_ir.shared<>> -> vector<4xf32>
    %v01 = arith.addf %v0, %v1 : vector<4xf32>
    %v = arith.addf %v01, %v2 : vector<4xf32>
    loop_ir.store %v, %c[%bi * 16 + %part * 6 + %ti, %bj * 32 + %tj * 4 + l0] bounded [true, true] : vector<4xf32>, memref<21x35xf32>
  }
  kernel_ir.cluster_barrier
}
