import { backoff } from '../../lib/timing/backoff.ts'
import { findMailProvider } from '../built-in/domains/mail-providers.ts'
import { lookUpRegistration } from '../built-in/domains/rdap.ts'
import { readSite } from '../built-in/web/site.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, type Provenance, retry, wait } from '../outcome.ts'
import { output } from '../outputs.ts'

const MAX_TRIES = 2

export default defineAction({
  id: 'domain_lookup',
  name: 'Domain lookup',
  description:
    "Looks up who runs a domain's email, how it is protected, and its registration, by DNS and RDAP.",
  category: 'companies',
  synonyms: ['dns', 'whois', 'mx', 'spf', 'dmarc', 'registrar', 'email provider', 'hosting'],
  credits: 0.2,
  timeoutSeconds: 60,
  inputs: {
    domain: field.text({
      required: true,
      label: 'Domain',
      help: 'A domain, an address on it, or an email address.',
      placeholder: 'acme.com',
    }),
  },
  outputs: {
    mx_provider: output.text('The mail provider: Google Workspace, Microsoft 365, ...'),
    spf: output.text('Its SPF record.'),
    dmarc: output.text('Its DMARC record.'),
    registrar: output.text('The registrar of the domain.'),
    created: output.text('The date of the first registration, ISO 8601.'),
    expires: output.text('The expiry date of the registration, ISO 8601.'),
    nameservers: output.list('Its name servers.'),
  },
  async run({ inputs, context }) {
    const site = readSite(inputs.domain)
    if (site === null || site.isAddress)
      return failed(`domain: "${inputs.domain.slice(0, 100)}" is not a domain name`)
    const { domain } = site
    const { dns } = context.egress
    const started = Date.now()
    const [mx, txt, policy, ns, registration] = await Promise.all([
      dns.mx(domain),
      dns.txt(domain),
      dns.txt(`_dmarc.${domain}`),
      dns.ns(domain),
      lookUpRegistration(context.egress, domain, context.signal),
    ])
    const named = {
      ok: mx.ok && txt.ok && ns.ok,
      message: [mx, txt, ns].flatMap((answer) => (answer.ok ? [] : [answer.message]))[0],
    }
    const registered = registration.kind !== 'unavailable'
    // One source alone is enough, but only after the other has had its tries.
    const tries = typeof context.state === 'number' ? context.state : 1
    if (!(named.ok && registered) && tries < MAX_TRIES) return wait(backoff(tries), tries + 1)
    const trouble = registration.kind === 'unavailable' ? registration.message : undefined
    if (!named.ok && !registered) return retry(`${named.message}; ${trouble}`)
    const exists = (mx.ok && mx.exists) || (txt.ok && txt.exists) || (ns.ok && ns.exists)
    if (!exists && registration.kind !== 'found') return { kind: 'no_match' }

    const exchange = mx.ok ? mx.records[0]?.exchange : undefined
    const record = (answer: typeof txt, start: RegExp) =>
      answer.ok ? (answer.records.find((text) => start.test(text)) ?? null) : null
    const found = registration.kind === 'found' ? registration : null
    const servers = ns.ok && ns.records.length > 0 ? ns.records : (found?.nameservers ?? [])
    const ms = Date.now() - started
    const provenance: Provenance[] = [
      step('dns', ms, named.ok ? undefined : named.message),
      step('rdap', ms, trouble),
    ]
    return done(
      {
        mx_provider: exchange === undefined ? null : findMailProvider(exchange, domain),
        spf: record(txt, /^v=spf1\b/i),
        dmarc: record(policy, /^v=DMARC1\b/i),
        registrar: found?.registrar ?? null,
        created: found?.created ?? null,
        expires: found?.expires ?? null,
        nameservers: servers.length > 0 ? servers : null,
      },
      provenance,
    )
  },
})

function step(provider: string, ms: number, message: string | undefined): Provenance {
  const status = message === undefined ? 'hit' : 'error'
  return { provider, status, ms, credits: 0, ...(message === undefined ? {} : { message }) }
}
