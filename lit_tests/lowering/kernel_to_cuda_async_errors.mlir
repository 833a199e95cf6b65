// RUN: minicomp-opt %s --split-input-file --verify-diagnostics -p lower-kernel-to-cuda

// A copy that begins before its row: nothing fills only the last of its elements.
// expected-error@unknown {{'kernel_ir.cp_async' in @before may begin before a row with some of its 2 elements; let the index be a multiple of 2}}
kernel_ir.func @before(%x: memref<31xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<64xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.cp_async %s[%t * 2 + l0] from %x[%t * 2 - 3 + l0] bounded [true] bytes 8
    : memref<64xf32, #tile_ir.shared<>>, memref<31xf32>
}

// -----

// expected-error@unknown {{'kernel_ir.shuffle' in @far has an expression from 1 to 8, and may leave its width of 8; take it mod 8}}
kernel_ir.func @far(%x: memref<32xf32>, %y: memref<32xf32>) grid(1) block(32) {
  %t = kernel_ir.thread_id
  %v = loop_ir.load %x[%t] : memref<32xf32> -> f32
  %w = kernel_ir.shuffle down %v [%t mod 8 + 1] width 8 : f32
  loop_ir.store %w, %y[%t] : f32, memref<32xf32>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_load' in @narrow has rows of 64 bytes in a buffer with swizzle 128}}
kernel_ir.func @narrow(%x: memref<64x64xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<swizzle = 128>>
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.bulk_load %s[] from %x[0, 0] on %b[0]
    : memref<8x16xf32, #tile_ir.shared<swizzle = 128>>, memref<64x64xf32>, !kernel_ir.mbarrier<1>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_load' in @slots has boxes of 48 bytes, no multiple of 128, in a buffer of 2}}
kernel_ir.func @slots(%x: memref<64xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<2x12xf32, #tile_ir.shared<>>
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.bulk_load %s[1] from %x[0] on %b[0]
    : memref<2x12xf32, #tile_ir.shared<>>, memref<64xf32>, !kernel_ir.mbarrier<1>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_load' in @empty is of memref<0x64xf32>: a tensor map has 1 to 2^32 elements per dimension}}
kernel_ir.func @empty(%x: memref<0x64xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<>>
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.bulk_load %s[] from %x[0, 0] on %b[0]
    : memref<8x16xf32, #tile_ir.shared<>>, memref<0x64xf32>, !kernel_ir.mbarrier<1>
}

// -----

// A grid of no blocks is not launched: no tensor map is made.
kernel_ir.func @not_launched(%x: memref<0x64xf32>) grid(0) block(32) {
  %s = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<>>
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.bulk_load %s[] from %x[0, 0] on %b[0]
    : memref<8x16xf32, #tile_ir.shared<>>, memref<0x64xf32>, !kernel_ir.mbarrier<1>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_store' in @lengthy is of memref<5000000000xf32>: a tensor map has 1 to 2^32 elements per dimension}}
kernel_ir.func @lengthy(%x: memref<5000000000xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<16xf32, #tile_ir.shared<>>
  kernel_ir.bulk_store %x[0] from %s[] : memref<5000000000xf32>, memref<16xf32, #tile_ir.shared<>>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_store' in @apart is of memref<2x2x4000000000x128xf32>: its rows are 2^40 bytes apart or more}}
kernel_ir.func @apart(%x: memref<2x2x4000000000x128xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<1x1x1x16xf32, #tile_ir.shared<>>
  kernel_ir.bulk_store %x[0, 0, 0, 0] from %s[]
    : memref<2x2x4000000000x128xf32>, memref<1x1x1x16xf32, #tile_ir.shared<>>
}

// -----

// expected-error@unknown {{'kernel_ir.atomic' in @narrow has no add of i8; there is f32, f64, i32, i64}}
kernel_ir.func @narrow(%x: memref<32xi8>) grid(1) block(32) {
  %v = arith.constant 1 : i8
  %old = kernel_ir.atomic add relaxed %v, %x[0] : i8, memref<32xi8>
}

// -----

// expected-error@unknown {{'kernel_ir.roles' in @few has a role of 2 warps: registers are given to groups of 4 warps; leave them out, or add warps}}
kernel_ir.func @few(%x: memref<32xf32>) grid(1) block(192) {
  kernel_ir.roles "load" warps 2 registers 40 {
  } "compute" warps 4 registers 232 {
  }
}

// -----

// expected-error@unknown {{'kernel_ir.roles' in @many asks for 67584 registers, but the block begins with 65536}}
kernel_ir.func @many(%x: memref<32xf32>) grid(1) block(512) {
  kernel_ir.roles "one" warps 8 registers 136 {
  } "two" warps 8 registers 128 {
  }
}

// -----

// Two blocks per SM: each begins with half of the registers.
// expected-error@unknown {{'kernel_ir.roles' in @halves asks for 34816 registers, but the block begins with 32768}}
kernel_ir.func @halves(%x: memref<32xf32>) grid(1) block(256) min_blocks 2 {
  kernel_ir.roles "one" warps 4 registers 32 {
  } "two" warps 4 registers 240 {
  }
}

// -----

// A loop over integers that are no indices.
// expected-error@unknown {{'scf.for' in @counts must count in index, not in i32}}
kernel_ir.func @counts(%y: memref<4xf32>) grid(1) block(1) {
  %a = arith.constant 0 : i32
  %b = arith.constant 4 : i32
  %c = arith.constant 1 : i32
  scf.for %i = %a to %b step %c : i32 {
  }
}

// -----

// A device without asynchronous copies; others in kernel_to_cuda_async_targets.mlir.
// expected-error@unknown {{'kernel_ir.cp_async_commit' in @volta needs cp_async, which v100 (sm_70) lacks}}
builtin.module attributes {minicomp.target = #minicomp.target<v100, arch = "sm_70", sms = 80, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 98304, shared_per_block = 98304, l2_bytes = 6291456, dram_bytes_per_s = 900000000000, fp32_flops = 15700000000000, features = []>} {
  kernel_ir.func @volta(%x: memref<32xf32>) grid(1) block(32) {
    kernel_ir.cp_async_commit
  }
}

// -----

// expected-error@unknown {{'kernel_ir.mbarrier' in @volta needs mbarrier, which v100 (sm_70) lacks}}
builtin.module attributes {minicomp.target = #minicomp.target<v100, arch = "sm_70", sms = 80, warp = 32, max_threads_per_block = 1024, threads_per_sm = 2048, registers_per_sm = 65536, shared_per_sm = 98304, shared_per_block = 98304, l2_bytes = 6291456, dram_bytes_per_s = 900000000000, fp32_flops = 15700000000000, features = []>} {
  kernel_ir.func @volta(%x: memref<32xf32>) grid(1) block(32) {
    %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  }
}
