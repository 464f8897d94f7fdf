/** Ids come from outside too, so that a recorded run can be repeated. */

import { randomUUID } from 'node:crypto';

export type CreateId = () => string;

export const randomId: CreateId = () => randomUUID();
