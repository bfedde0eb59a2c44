import { domainToASCII } from 'node:url'
import { parse } from 'tldts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'normalize_domain',
  name: 'Normalize domain',
  description: 'Extracts the company domain from a URL, a host name or an email address.',
  category: 'data',
  synonyms: ['clean url', 'website', 'extract domain', 'email domain', 'root domain', 'host'],
  credits: 0,
  pure: true,
  inputs: {
    value: field.text({
      required: true,
      label: 'Website or email',
      help: 'A URL, a host name or an email address. Of several, the first with a domain counts.',
      placeholder: 'https://www.acme.co.uk/about',
    }),
  },
  outputs: {
    domain: output.text('The registrable domain: acme.co.uk.'),
    hostname: output.text('The whole host name: www.acme.co.uk.'),
    subdomain: output.text('The part before the domain: www.'),
    suffix: output.text('The public suffix: co.uk.'),
  },
  run({ inputs }) {
    // A suffix that is not on the list follows its default rule: the last label is the suffix (D81).
    for (const text of [...inputs.value.trim().split(/\s+/), inputs.value]) {
      const { domain, hostname, subdomain, publicSuffix } = parse(readHost(text), {
        allowPrivateDomains: true,
      })
      if (domain !== null) return done({ domain, hostname, subdomain, suffix: publicSuffix })
    }
    return { kind: 'no_match' }
  },
})

/** The characters in which a host is looked for. None is longer, and the search in megabytes holds the thread. */
const LONGEST = 4096

/** Returns the part that can be a host, in the spelling of DNS, or the given text if no part can be one. */
function readHost(text: string): string {
  const bare = text.trim().replace(/^mailto:/i, '')
  const host = /^[^\s/@]+@([^\s/@]+)$/.exec(bare)?.[1] ?? bare
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(host) ? host : `http://${host.replace(/^\/\//, '')}`)
  return (url && domainToASCII(url.hostname)) || bare.slice(0, LONGEST)
}
