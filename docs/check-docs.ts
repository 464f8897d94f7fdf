/**
 * Reads Markdown and says where it departs from the code it speaks about. Every checker answers
 * with a list of problems.
 */

/** A fenced block, and the comment line directly before it. */
export interface Fence {
  readonly language: string;
  readonly code: string;
  readonly line: number;
  readonly before: string;
}

const FENCE = /^(`{3,})(\w*)\s*$/;

/**
 * Every fenced block of a page. A fence that is never closed runs to the end, as it does for a
 * reader.
 */
export function fencesOf(markdown: string): readonly Fence[] {
  const lines = markdown.split('\n');
  const fences: Fence[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, ticks, language = ''] = FENCE.exec(lines[index] ?? '') ?? [];
    if (ticks === undefined) continue;
    const end = lines.findIndex((line, at) => at > index && line.trimEnd() === ticks);
    const last = end === -1 ? lines.length : end;
    fences.push({
      language,
      code: lines.slice(index + 1, last).join('\n'),
      line: index + 1,
      before: lines[index - 1] ?? '',
    });
    index = last;
  }
  return fences;
}

/** The page without fenced blocks, comments and inline code: what is prose. */
export function proseOf(markdown: string): string {
  const open = { ticks: '' };
  const lines = markdown.split('\n').map((line) => {
    const [, ticks] = FENCE.exec(line) ?? [];
    if (open.ticks === '' && ticks === undefined) return line;
    if (open.ticks === '') open.ticks = ticks ?? '';
    else if (line.trimEnd() === open.ticks) open.ticks = '';
    return '';
  });
  return lines
    .join('\n')
    .replace(/<!--.*?-->/gs, '')
    .replace(/`[^`\n]*`/g, '``');
}

/**
 * A marked region of a source file without its indentation, or `null` where there is no such
 * region.
 */
export function regionOf(source: string, name: string): string | null {
  const lines = source.split('\n');
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line) => line.trim() === `// #endregion ${name}`);
  if (start === -1 || end <= start) return null;
  const body = lines.slice(start + 1, end);
  const indents = body
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return body.map((line) => line.slice(indent)).join('\n');
}

const FROM = /^<!-- from (examples\/\S+\.ts)#(\S+) -->$/;
const IMPORTS = '<!-- imports -->';
const CODE = ['ts', 'typescript', 'js', 'javascript'];

/** TypeScript that is shown must be what an example runs, to the letter. */
export function fenceProblems(
  markdown: string,
  read: (path: string) => string | null,
): readonly string[] {
  return fencesOf(markdown)
    .filter(({ language, before }) => CODE.includes(language) && before !== IMPORTS)
    .flatMap(({ code, line, before }) => {
      const [, path = '', name = ''] = FROM.exec(before) ?? [];
      if (path === '')
        return [`line ${line}: code without "<!-- from examples/…#region -->" before it`];
      const source = read(path);
      if (source === null) return [`line ${line}: there is no ${path}`];
      const region = regionOf(source, name);
      if (region === null) return [`line ${line}: ${path} has no region ${name}`];
      return region === code ? [] : [`line ${line}: differs from region ${name} of ${path}`];
    });
}

const IMPORT = /^import (type )?(?:(\w+),? )?(?:\{([^}]*?),?\s*\} )?from '([^']+)';$/gm;
const LINE_WIDTH = 100;

/**
 * The imports that the code of a page needs: those of the examples it is cut from, without names
 * that the page does not use.
 */
export function importsFor(markdown: string, read: (path: string) => string | null): string {
  const uses = new Map<string, string>();
  for (const { code, before } of fencesOf(markdown)) {
    const [, path] = FROM.exec(before) ?? [];
    // A block that begins with its own imports is a whole program.
    if (path !== undefined && !code.startsWith('import '))
      uses.set(path, `${uses.get(path) ?? ''}\n${code}`);
  }
  const modules = new Map<string, Set<string>>();
  for (const [path, code] of uses) {
    for (const [, type = '', whole = '', list = '', module = ''] of (read(path) ?? '').matchAll(
      IMPORT,
    )) {
      const names = list.split(',').map((name) => `${type}${name.trim()}`);
      const used = [...(whole === '' ? [] : [`default ${whole}`]), ...names].filter((name) =>
        isUsed(name, code),
      );
      if (used.length > 0) modules.set(module, new Set([...(modules.get(module) ?? []), ...used]));
    }
  }
  const rank = (module: string): number =>
    module.startsWith('node:') ? 0 : module.startsWith('allium') ? 2 : 1;
  return [...modules]
    .sort(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .map(([module, names]) => importLine(module, [...names]))
    .join('\n');
}

/**
 * `type A`, `a as b` and `default a` go by the name that code has for them. A member of that name
 * (`x.a`) is no use of it.
 */
function isUsed(name: string, code: string): boolean {
  const local = name.split(' ').at(-1) ?? '';
  return local !== '' && new RegExp(`(?<![.\\w'])${local}\\b(?!')`).test(code);
}

function importLine(module: string, names: readonly string[]): string {
  const whole = names.find((name) => name.startsWith('default '))?.slice('default '.length);
  const listed = names
    .filter((name) => !name.startsWith('default '))
    .sort((one, other) => nameOf(one).localeCompare(nameOf(other), 'en'));
  const list = listed.length === 0 ? [] : [`{ ${listed.join(', ')} }`];
  const line = `import ${[...(whole === undefined ? [] : [whole]), ...list].join(', ')} from '${module}';`;
  return line.length <= LINE_WIDTH
    ? line
    : `import {\n${listed.map((name) => `  ${name},\n`).join('')}} from '${module}';`;
}

const nameOf = (name: string): string => name.replace(/^type /, '');

/** A page with code begins with the imports that its code needs. */
export function importProblems(
  markdown: string,
  read: (path: string) => string | null,
): readonly string[] {
  const fences = fencesOf(markdown).filter(({ language }) => CODE.includes(language));
  const [first] = fences;
  if (first === undefined) return [];
  const needed = importsFor(markdown, read);
  const others = fences.slice(1).filter(({ before }) => before === IMPORTS);
  return [
    ...(first.code.startsWith('import ')
      ? []
      : [`line ${first.line}: the first code has no imports; write ${IMPORTS} and\n${needed}`]),
    ...(first.before !== IMPORTS || first.code === needed
      ? []
      : [`line ${first.line}: the imports should be\n${needed}`]),
    ...others.map(({ line }) => `line ${line}: the imports stand before all other code`),
  ];
}

/** What a page says a program prints: a fence or a table after `<!-- printed by examples/… -->`. */
export function printedBlocks(
  markdown: string,
): readonly { readonly program: string; readonly text: string }[] {
  const lines = markdown.split('\n');
  return lines.flatMap((line, index) => {
    const [, program] = /^<!-- printed by (examples\/\S+)\.ts -->$/.exec(line) ?? [];
    if (program === undefined) return [];
    const fence = fencesOf(lines.slice(index + 1).join('\n')).find((block) => block.line === 1);
    if (fence !== undefined) return [{ program, text: fence.code }];
    const end = lines.indexOf('', index);
    return [{ program, text: lines.slice(index + 1, end === -1 ? undefined : end).join('\n') }];
  });
}

/** Headings in their order, with their level. */
export function headingsOf(
  markdown: string,
): readonly { readonly level: number; readonly text: string }[] {
  const fenced = new Set(
    fencesOf(markdown).flatMap(({ code, line }) => code.split('\n').map((_, at) => line + at)),
  );
  return markdown.split('\n').flatMap((line, index) => {
    const [, marks, text] = /^(#{1,6}) (.+?)\s*$/.exec(line) ?? [];
    return marks === undefined || text === undefined || fenced.has(index)
      ? []
      : [{ level: marks.length, text }];
  });
}

/**
 * What stands under a heading, up to the next one of its level or above; nothing where there is no
 * such heading.
 */
export function sectionOf(markdown: string, heading: string): string {
  const headings = headingsOf(markdown);
  const index = headings.findIndex(({ text }) => text === heading);
  const found = headings[index];
  if (found === undefined) return '';
  const next = headings.slice(index + 1).find(({ level }) => level <= found.level);
  const [, after = ''] = markdown.split(`${'#'.repeat(found.level)} ${found.text}\n`);
  return next === undefined
    ? after
    : (after.split(`\n${'#'.repeat(next.level)} ${next.text}\n`)[0] ?? '');
}

/**
 * The file that a reader is told to save a block as: the sentence before the block ends in "save as
 * `file`:".
 */
export function savedAs(markdown: string, { line }: Fence): string | null {
  const before = markdown
    .split('\n')
    .slice(0, line - 1)
    .filter((text) => text !== '' && !text.startsWith('<!--'));
  return /save as `([^`]+)`:$/i.exec(before.at(-1) ?? '')?.[1] ?? null;
}

/** The names a heading can be linked by, as GitHub makes them. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const { text } of headingsOf(markdown)) {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** Where the links of a page lead, other sites left out. */
export function linksOf(markdown: string): readonly string[] {
  const prose = proseOf(markdown);
  const inline = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map(
    ([, target = '']) => target,
  );
  const listed = [...prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)].map(([, target = '']) => target);
  return [...inline, ...listed].filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

/** A link must lead to a file that is there, and to a heading that it has. */
export function linkProblems(
  markdown: string,
  read: (path: string) => string | null,
): readonly string[] {
  return linksOf(markdown).flatMap((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? markdown : read(path);
    if (target === null) return [`${link}: there is no such file`];
    return anchor === undefined || anchorsOf(target).has(anchor)
      ? []
      : [`${link}: there is no such heading`];
  });
}

/**
 * The body rows of the table under a heading, or of the first table of the page; cells without
 * their backticks.
 */
export function tableRows(markdown: string, heading?: string): readonly (readonly string[])[] {
  const lines = markdown.split('\n');
  const start =
    heading === undefined ? 0 : lines.findIndex((line) => line.replace(/^#+ /, '') === heading) + 1;
  const rule = lines.findIndex((line, index) => index >= start && /^\|[-|: ]+\|$/.test(line));
  const next = lines.findIndex((line, index) => index >= start && line.startsWith('#'));
  if (rule === -1 || (heading !== undefined && (start === 0 || (next !== -1 && next < rule))))
    return [];
  const end = lines.findIndex((line, index) => index > rule && !line.startsWith('|'));
  return lines.slice(rule + 1, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  );
}

/** The fields of an exported interface, or `null` where there is none of that name. */
export function fieldsOf(source: string, name: string): readonly string[] | null {
  const [, body] =
    new RegExp(
      `^export interface ${name}(?:<[^{]*>)?(?: extends [^{]+)? \\{\\n([\\s\\S]*?)^\\}`,
      'm',
    ).exec(source) ?? [];
  return body === undefined
    ? null
    : [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field = '']) => field);
}

/**
 * The option names of a layer: the fields of its options interface, or else the parameters of its
 * factory.
 */
export function optionNames(source: string): readonly string[] {
  const [, parameters = ''] = /^export function \w+\(([^)]*)\)/m.exec(source) ?? [];
  return (
    fieldsOf(source, '\\w+Options') ??
    [...parameters.matchAll(/(?:^|, )(\w+)\??:/g)].map(([, name = '']) => name)
  );
}

/**
 * Names of values that no code of the pages uses: a function must be called, anything else named.
 */
export function unmentioned(
  exports: Readonly<Record<string, unknown>>,
  pages: readonly string[],
): readonly string[] {
  const code = pages.flatMap((page) => [
    ...fencesOf(page).map((fence) => fence.code),
    ...[...page.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
  ]);
  return Object.entries(exports)
    .filter(([name, value]) => {
      const use = new RegExp(typeof value === 'function' ? `\\b${name}\\(` : `\\b${name}\\b`);
      return !code.some((text) => use.test(text));
    })
    .map(([name]) => name);
}
