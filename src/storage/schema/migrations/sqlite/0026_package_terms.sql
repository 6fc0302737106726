UPDATE `advisory_terms`
SET `value` = substr(`value`, length(rtrim(`value`, replace(`value`, '/', ''))) + 1) || ' ' || rtrim(`value`, replace(`value`, '/', ''))
WHERE `filter` = 'products' AND `value` LIKE 'pkg:%/%';
