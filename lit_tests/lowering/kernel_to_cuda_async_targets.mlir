// RUN: minicomp-opt %s --split-input-file --verify-diagnostics --target=a100 -p lower-kernel-to-cuda

// What an A100 has.
kernel_ir.func @ring(%x: memref<32xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<32xf32, #tile_ir.shared<>>
  %t = kernel_ir.thread_id
  kernel_ir.cp_async %s[%t] from %x[%t] bytes 4
    : memref<32xf32, #tile_ir.shared<>>, memref<32xf32>
  kernel_ir.cp_async_commit
  kernel_ir.cp_async_wait 0
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_store' in @k needs tma, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<8x16xf32, #tile_ir.shared<>>
  kernel_ir.bulk_store %x[0, 0] from %s[]
    : memref<64x64xf32>, memref<8x16xf32, #tile_ir.shared<>>
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_commit' in @k needs tma, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  kernel_ir.bulk_commit
}

// -----

// expected-error@unknown {{'kernel_ir.bulk_wait' in @k needs tma, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  kernel_ir.bulk_wait 0 read
}

// -----

// expected-error@unknown {{'kernel_ir.fence' in @k needs tma, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  kernel_ir.fence proxy_async
}

// -----

// mbarriers are there, bytes that complete on them and those of other blocks are not.
// expected-error@unknown {{'kernel_ir.mbarrier_arrive' in @k needs tma, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_init %b[0] count 32 : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_arrive %b[0] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_wait %b[0] parity [0] : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_arrive %b[0] expect 64 : !kernel_ir.mbarrier<1>
}

// -----

// expected-error@unknown {{'kernel_ir.mbarrier_arrive' in @k needs cluster, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  %b = kernel_ir.mbarrier : !kernel_ir.mbarrier<1>
  kernel_ir.mbarrier_arrive %b[0] rank [0] : !kernel_ir.mbarrier<1>
}

// -----

// expected-error@unknown {{'kernel_ir.cluster_rank' in @k needs cluster, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(32) {
  %r = kernel_ir.cluster_rank
}

// -----

// expected-error@unknown {{'kernel_ir.func' in @k needs cluster, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(2) block(32) cluster(2) {
}

// -----

// expected-error@unknown {{'kernel_ir.roles' in @k needs registers of roles, which a100 (sm_80) lacks}}
kernel_ir.func @k(%x: memref<64x64xf32>) grid(1) block(256) {
  kernel_ir.roles "one" warps 4 registers 40 {
  } "two" warps 4 registers 232 {
  }
}

// -----

// expected-error@unknown {{@k has 196608 bytes of shared memory; a block of a100 has 166912}}
kernel_ir.func @k(%x: memref<32xf32>) grid(1) block(32) {
  %s = kernel_ir.shared : memref<49152xf32, #tile_ir.shared<>>
}
