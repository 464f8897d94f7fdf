/** Modules that a file names: TypeScript too, and always with the `allium` that runs. */

import { isAbsolute, resolve } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { AlliumError } from '../index.ts';
import { closest } from '../core/contract/closest.ts';
import { describeThrown } from '../core/contract/errors.ts';

/** The exports of a module. */
export type ModuleExports = Readonly<Record<string, unknown>>;

/** `./file.ts#name` taken apart. Relative paths are relative to the file that names them. */
export function splitReference(reference: string): {
  readonly module: string;
  readonly name: string | null;
} {
  const at = reference.lastIndexOf('#');
  return at <= 0
    ? { module: reference, name: null }
    : { module: reference.slice(0, at), name: reference.slice(at + 1) };
}

const TYPESCRIPT = /\.[cm]?ts$/;

/**
 * Loads a module for a file in `folder`. `own` are further entries of this package that it may
 * import. Throws `ERR_INVALID_CONFIG` for one that is not there or fails.
 */
export async function loadModule(
  module: string,
  folder: string,
  own: Readonly<Record<string, object>> = {},
): Promise<ModuleExports> {
  const isFile = module.startsWith('.') || isAbsolute(module);
  const target = isFile ? resolve(folder, module) : module;
  try {
    if (TYPESCRIPT.test(target)) return await throughJiti(target, folder, own);
    const resolved = isFile ? target : createRequire(resolve(folder, 'x.js')).resolve(target);
    // What a module has is looked at by whoever asked.
    return (await import(pathToFileURL(resolved).href)) as ModuleExports;
  } catch (thrown) {
    throw new AlliumError(
      'ERR_INVALID_CONFIG',
      `${module} cannot be loaded: ${firstLine(thrown)}`,
      {},
      { cause: thrown },
    );
  }
}

async function throughJiti(
  target: string,
  folder: string,
  own: Readonly<Record<string, object>>,
): Promise<ModuleExports> {
  const [{ createJiti }, allium, layer, middleware, policy, receipts, stores] = await Promise.all([
    import('jiti'),
    import('../index.ts'),
    import('../layer.ts'),
    import('../../middleware/index.ts'),
    import('../policy/index.ts'),
    import('../receipts/index.ts'),
    import('../stores/index.ts'),
  ]);
  const jiti = createJiti(pathToFileURL(resolve(folder, 'x.js')).href, {
    // A cache in a folder that others can write to would let them choose what runs.
    fsCache: false,
    interopDefault: false,
    // A second copy of the package would not know the calls and results of the first.
    virtualModules: {
      allium,
      'allium/layer': layer,
      'allium/middleware': middleware,
      'allium/policy': policy,
      'allium/receipts': receipts,
      'allium/stores': stores,
      ...own,
    },
  });
  return jiti.import<ModuleExports>(target);
}

/** One export, or the default one. Throws with a guess for a name that is not there. */
export function exportOf(exports: ModuleExports, reference: string): unknown {
  const { module, name } = splitReference(reference);
  const wanted = name ?? 'default';
  if (Object.hasOwn(exports, wanted)) return exports[wanted];
  const names = Object.keys(exports).filter((each) => each !== 'default');
  const guess = closest(wanted, names);
  const hint =
    guess === undefined
      ? `it has ${names.length === 0 ? 'none' : names.join(', ')}`
      : `did you mean "${guess}"?`;
  throw new AlliumError(
    'ERR_INVALID_CONFIG',
    `${module} has no ${name === null ? 'default export' : `export "${name}"`}; ${hint}`,
  );
}

function firstLine(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND')
    return 'a module is not there';
  return describeThrown(thrown);
}
