/**
 * A result of a hundred kilobytes: the model gets its beginning, and reads on where it wants to.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, fileOutputs, governTools } from 'allium';
import { cutUtf8 } from 'allium/layer';
import { outputLimit, readOutputTool } from 'allium/middleware';

const folder = mkdtempSync(join(tmpdir(), 'allium-output-limit-'));
try {
  const listing = Array.from({ length: 5_000 }, (_, index) => `row ${index}: nothing to see`).join(
    '\n',
  );
  const list = defineTool({
    name: 'list_rows',
    description: 'Lists rows.',
    inputSchema: { type: 'object' },
    execute: () => listing,
  });

  // #region use
  const store = fileOutputs(folder);
  const governed = governTools({
    tools: [list, readOutputTool({ store })],
    layers: [outputLimit({ maxBytes: 2_048, store })],
  });
  const turn = { sessionId: 'alice' };
  const first = await governed.call({ name: 'list_rows', arguments: {} }, { turn });

  assert.equal(first.ok, true);
  assert.ok(Buffer.byteLength(first.renderedResult) <= 2_048);
  assert.ok(first.renderedResult.startsWith('row 0: nothing to see\nrow 1:'));
  assert.equal(first.outputFiles[0]?.bytes, Buffer.byteLength(listing));
  // #endregion use

  const note = first.renderedResult.slice(first.renderedResult.lastIndexOf('\n') + 1);

  // #region read-on
  const id = first.outputFiles[0].sha256;
  const part = await governed.call(
    { name: 'read_output', arguments: { id, offset: 1_648, length: 100 } },
    { turn },
  );

  assert.equal(part.renderedResult.split('\n')[1], 'row 73: nothing to see');
  assert.match(part.renderedResult, /\[bytes 1648 to 1748 of \d+: go on with offset 1748\]$/);
  // #endregion read-on

  // #region other-session
  const stranger = await governed.call(
    { name: 'read_output', arguments: { id } },
    { turn: { sessionId: 'mallory' } },
  );

  assert.equal(stranger.ok, false);
  assert.equal(stranger.errorCategory, 'not_found');
  // #endregion other-session

  // #region cut
  assert.equal(cutUtf8('naïve 😀', 8), 'naïve ');
  // #endregion cut

  await governed.close();
  console.log(note);
  console.log(
    JSON.stringify(
      first.audit?.layers.map(({ name, status, bytes, shownBytes, kept }) => ({
        name,
        status,
        bytes,
        shownBytes,
        kept,
      })),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}
