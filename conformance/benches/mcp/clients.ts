/** The clients of the bench. */

import { clientV1 } from './client-v1.ts';
import { clientV2, clientV2Modern } from './client-v2.ts';
import type { Driver } from './driver.ts';

export const DRIVERS: readonly Driver[] = [clientV1, clientV2, clientV2Modern];
