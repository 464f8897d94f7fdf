/** Where the bundled scenarios are. */

import { ownFile } from '../../src/system/own-package.ts';

/** The folder of the bundled suite. */
export const suiteFolder = (): string => ownFile('conformance/suite');
