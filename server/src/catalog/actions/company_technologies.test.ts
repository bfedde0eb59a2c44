import { expect, it } from 'vitest'
import { createKey } from '../provider/access.ts'
import { serveDouble } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite } from '../testing/site-server.ts'
import { shop } from '../testing/sites/shops.ts'

const runAction = useActions()
const keys = { platform: () => createKey('platform', { secret: 'k' }), own: async () => null }

it('company_technologies reads the website itself, with no key', async () => {
  const { port } = await serveSite(shop)
  const outcome = await runAction('company_technologies', { domain: `http://127.0.0.1:${port}/` })
  expect(outcome).toMatchObject({ kind: 'done', credits: 1, outputs: { provider: 'Built-in' } })
  const shopify = { name: 'Shopify', category: 'shop', first_seen: null }
  expect(outcome).toMatchObject({
    outputs: { technologies: expect.arrayContaining([expect.objectContaining(shopify)]) },
  })
})

it('a website that shows nothing leaves it to the next provider', async () => {
  const { port } = await serveSite({ '/': '<title>Plain</title>' })
  const double = await serveDouble(() => ({ json: { data: [{ technology: { name: 'Kafka' } }] } }))
  const inputs = { domain: `127.0.0.1:${port}`, providers: ['Built-in', 'TheirStack'] }
  const outcome = await runAction('company_technologies', inputs, {
    urls: { theirstack: double.origin },
    keys,
  })
  expect(outcome).toMatchObject({
    kind: 'done',
    outputs: { technologies: [{ name: 'Kafka' }], provider: 'TheirStack' },
  })
})
