import { defineBuiltIn } from '../../provider.ts'

export const builtInWebsite = defineBuiltIn('built_in_website', 'Built-in website')
