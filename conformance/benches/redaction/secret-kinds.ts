/**
 * Kinds of secrets that a person may see in the output of a tool, drawn from vendors' documentation
 * and from the rules of scanners, and not from the table of this package: the measure must not know
 * what it measures. Samples are made at run time; no file here holds a secret.
 */

import type { SecretKind } from './carriers.ts';
import { CI } from './kinds/ci.ts';
import { CLOUD } from './kinds/cloud.ts';
import { CODE_HOSTS } from './kinds/code-hosts.ts';
import { COMMANDS } from './kinds/commands.ts';
import { DATABASES } from './kinds/databases.ts';
import { FORMATS } from './kinds/formats.ts';
import { HOSTING } from './kinds/hosting.ts';
import { MESSAGING } from './kinds/messaging.ts';
import { MODELS } from './kinds/models.ts';
import { OBSERVABILITY } from './kinds/observability.ts';
import { PAYMENT } from './kinds/payment.ts';
import { SAAS } from './kinds/saas.ts';

export type { Sample, SecretKind } from './carriers.ts';

/** Every kind. Ids are unique. */
export const SECRET_KINDS: readonly SecretKind[] = [
  ...CLOUD,
  ...HOSTING,
  ...CODE_HOSTS,
  ...MODELS,
  ...CI,
  ...DATABASES,
  ...OBSERVABILITY,
  ...MESSAGING,
  ...PAYMENT,
  ...SAAS,
  ...FORMATS,
  ...COMMANDS,
];
