import { builtInTechnologies } from '../providers/built_in/technologies.ts'
import { builtwithTechnologies } from '../providers/builtwith/technologies.ts'
import { theirstackTechnologies } from '../providers/theirstack/technologies.ts'

/** The providers that know the technologies of a company, in default order. */
export const TECHNOLOGY_SOURCES = [builtInTechnologies, builtwithTechnologies, theirstackTechnologies]
