/** Stacks written as data. */

export type { BuildContext } from './build-layers.ts';
export { buildLayers } from './build-layers.ts';
export type { LayerFactory } from './layer-factories.ts';
export { LAYER_FACTORIES } from './layer-factories.ts';
export type { ValueForm, ValueForms } from './value-forms.ts';
