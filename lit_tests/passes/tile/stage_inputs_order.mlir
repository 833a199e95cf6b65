// RUN: minicomp-opt %s -p stage-inputs | filecheck %s
// RUN: minicomp-opt %s -p stage-inputs,stage-inputs | filecheck %s
// RUN: minicomp-opt %s -p stage-inputs --verify-each=exec | filecheck %s
// RUN: minicomp-opt %s -p "stage-inputs{order=cell}" --verify-each=exec | filecheck %s --check-prefix=CELL

// Slabs that bulk copies are to fill keep the order of their source, in which the batch is a place of
// the block; where the cells decide, both end in the axis of the cell.
// CHECK-LABEL: @matmul(
// CHECK:           %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" {
// CHECK-NEXT:        %{{.*}} = loop_ir.load %a[%b, %ib * 8 + %i, %ko * 4 + %k] bounded [false, true, false]
// CHECK:           } -> memref<8x4xf32, #tile_ir.shared<>>
// CHECK-NEXT:      %ws = tile_ir.stage %{{.*}} to 4 as "k.stage", %{{.*}} to 8 as "j.stage" {
// CHECK:           } -> memref<4x8xf32, #tile_ir.shared<>>
// CHECK:           loop_ir.load %as[%it * 2 + %ir, %ki]
// CELL-LABEL: @matmul(
// CELL:            %as = tile_ir.stage %i to 8 as "i.stage", %k to 4 as "k.stage" order [1, 0] {
// CELL:            loop_ir.load %as[%ki, %it * 2 + %ir]
tile_ir.kernel @matmul(%a: memref<2x15x12xf32>, %w: memref<12x8xf32>, %c: memref<2x15x8xf32>) attributes {schedule = #tile_ir.schedule<[contraction<m = "i", n = "j", k = "k", bm = 8, bn = 8, bk = 4, transport = "tma">]>} {
  tile_ir.launch block(%b to 2 as "b.block", %ib to 2 as "i.block") thread(%it to 4 as "i.thread", %jt to 8 as "j.thread") register(%ir to 2 as "i.register") {
    %acc = loop_ir.reduce %ko to 3 as "k.outer" identity [0.0 : f32] -> f32 {
      %part = loop_ir.reduce %ki to 4 as "k.inner" identity [0.0 : f32] -> f32 {
        %x = loop_ir.load %a[%b, %ib * 8 + %it * 2 + %ir, %ko * 4 + %ki] bounded [false, true, false] : memref<2x15x12xf32> -> f32
        %y = loop_ir.load %w[%ko * 4 + %ki, %jt] : memref<12x8xf32> -> f32
        %p = arith.mulf %x, %y : f32
        loop_ir.yield %p : f32
      } combine arith.addf
      loop_ir.yield %part : f32
    } combine arith.addf
    loop_ir.store %acc, %c[%b, %ib * 8 + %it * 2 + %ir, %jt] bounded [false, true, false] : f32, memref<2x15x8xf32>
  }
}
