/** Optional packages: loaded when they are needed, and asked for by name when they are missing. */

import { AlliumError } from '../core/errors.ts';

/** Awaits an import, and says what to install where the package is not there. */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    const message = `startTelemetry needs the package ${name}, which could not be loaded; install it with "npm install ${name}"`;
    throw new AlliumError('ERR_MISSING_PACKAGE', message, {}, { cause: thrown });
  }
}
