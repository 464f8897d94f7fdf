/** Stacks written as data. */

export type { BuildContext } from './build-layers.ts';
export { buildLayers } from './build-layers.ts';
export type {
  LayerDescription,
  StackDescription,
  ToolChange,
  ToolDescription,
} from './describe-stack.ts';
export { hasConfig } from './find-config.ts';
export type { Environment } from './interpolate.ts';
export type { LayerFactory } from './layer-factories.ts';
export { LAYER_FACTORIES } from './layer-factories.ts';
export type { LoadedConfig, LoadOptions } from './load-config.ts';
export { loadConfig } from './load-config.ts';
export { CONFIG_SCHEMA } from './schema/config-schema.ts';
export type { ValueForm, ValueForms } from './value-forms.ts';
export type { NotifyCommand, NotifySettings, ProxyServer, ProxySettings } from './assemble.ts';
