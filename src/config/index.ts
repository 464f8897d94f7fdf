/** Stacks written as data. */

export type { LayerFactory } from './layer-factories.ts';
export { LAYER_FACTORIES } from './layer-factories.ts';
