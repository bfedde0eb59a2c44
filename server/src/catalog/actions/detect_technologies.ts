import { readSiteTechnologies } from '../built-in/technologies/site-technologies.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'detect_technologies',
  name: 'Detect technologies',
  description: 'Detects the technologies and services of a website from its home page and DNS records.',
  category: 'companies',
  synonyms: ['tech stack', 'technographics', 'analytics', 'cms', 'extract'],
  timeoutSeconds: 90,
  inputs: {
    domain: field.text({
      required: true,
      label: 'Company domain',
      help: 'The website to inspect.',
      placeholder: 'acme.com',
      details: 'Any address on it works as well.',
    }),
  },
  outputs: {
    technologies: output.table('The technologies, by category and name.', {
      name: 'string',
      category: 'string',
      evidence: 'string',
    }),
  },
  async run({ inputs, context }) {
    const found = await readSiteTechnologies(context, inputs.domain)
    return Array.isArray(found) ? done({ technologies: found }) : found
  },
})
