/* oxlint-disable no-console */
import { tracked } from './graph.mjs'
import { mapPath } from './map.mjs'
const seen = new Map(),
  count = new Map()
for (const f of tracked) {
  const t = mapPath(f)
  if (seen.has(t)) console.log('COLLISION', t, f, seen.get(t))
  seen.set(t, f)
  const d = t.split('/').slice(0, -1).join('/')
  if (!/\.test\.tsx?$/.test(t)) count.set(d, (count.get(d) ?? 0) + 1)
}
for (const f of tracked)
  if (
    /^server\/src\/(store|org|rows|engine|estimates|backup|segments|segment-syncs|source-pulls|chain|api\/(routes|internal))\//.test(
      mapPath(f),
    )
  )
    console.log('unmoved', f)
console.log('moved', tracked.filter((f) => mapPath(f) !== f).length)
console.log(
  [...count]
    .filter(([d, n]) => n > 15 && !/migrations|definitions|actions$/.test(d))
    .sort((a, b) => b[1] - a[1])
    .map(([d, n]) => `${d} ${n}`)
    .join('\n'),
)
