/* oxlint-disable no-console */
import { files, imports } from './graph.mjs'
import { mapPath } from './map.mjs'
const TEST = /^(test|bench)\/|\.test\.ts$|\/testing\/|^vitest\.config\.ts$/
// areas in order, longest prefix wins
export const ORDER = process.env.ORDER ? process.env.ORDER.split(' ') : (await import('./order.mjs')).default
const areaOf = (f) =>
  ORDER.filter((a) => f === a || f.startsWith(a.endsWith('.ts') ? a : a + '/')).sort(
    (a, b) => b.length - a.length,
  )[0]
const bad = new Map()
for (const file of Object.keys(files)) {
  if (TEST.test(file) || !file.startsWith('server/src')) continue
  const to = mapPath(file),
    area = areaOf(to)
  if (!area) {
    console.log('no area', to)
    continue
  }
  for (const { path } of imports(file)) {
    const target = mapPath(path),
      other = areaOf(target)
    if (!target.startsWith('server/src')) continue
    if (!other) {
      console.log('no area', target)
      continue
    }
    if (ORDER.indexOf(other) > ORDER.indexOf(area)) {
      const key = `${area.replace('server/src/', '')} -> ${other.replace('server/src/', '')}`
      if (!bad.has(key)) bad.set(key, [])
      bad.get(key).push(`${to.replace('server/src/', '')} -> ${target.replace('server/src/', '')}`)
    }
  }
}
let n = 0
for (const [key, list] of [...bad].sort()) {
  console.log(key, list.length)
  for (const l of list.slice(0, Number(process.env.MAX ?? 6))) console.log('    ' + l)
  n += list.length
}
console.log('upward edges', n)
