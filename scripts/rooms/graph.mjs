// The tracked files of this repository and what they import.
import { execSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
export const ROOT = process.cwd()
export const tracked = execSync('git ls-files', { cwd: ROOT, maxBuffer: 1e8 }).toString().trim().split('\n')
const aliases = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).imports
export function resolve(from, target) {
  if (target.startsWith('.')) return join(dirname(from), target)
  for (const [alias, path] of Object.entries(aliases)) {
    const start = alias.replace('*', '')
    if (target.startsWith(start))
      return join(path.replace('*', target.slice(start.length)).replace(/^\.\//, ''))
  }
  return null
}
const STATIC = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w$\s{},*]*?\sfrom\s+)?['"]([^'"\n]+)['"]/gm
const LAZY = /\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g
export const files = Object.fromEntries(
  tracked.filter((f) => /\.(ts|tsx|mts|mjs)$/.test(f)).map((f) => [f, readFileSync(join(ROOT, f), 'utf8')]),
)
export function imports(file) {
  const text = files[file]
  return [
    ...[...text.matchAll(STATIC)].map((m) => ({ type: !!m[1], target: m[2] })),
    ...[...text.matchAll(LAZY)].map((m) => ({ lazy: true, target: m[1] })),
  ]
    .map((i) => ({ ...i, path: resolve(file, i.target) }))
    .filter((i) => i.path)
}
