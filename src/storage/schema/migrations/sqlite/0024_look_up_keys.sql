ALTER TABLE `advisories` ADD `look_up_keys` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `advisories` DROP COLUMN `package_key`;--> statement-breakpoint
UPDATE `advisories` SET `look_up_keys` = json_array(lower(CASE
  WHEN `artifact_type` IN ('apk', 'deb', 'rpm', 'alpm') THEN 'pkg:' || `artifact_type` || '/' || `artifact_name`
  WHEN `artifact_type` = 'image' THEN 'pkg:oci/' || `artifact_name`
  WHEN `artifact_type` = 'library' AND `component_type` <> '' THEN 'pkg:' || CASE `component_type`
    WHEN 'rust-crate' THEN 'cargo' WHEN 'packagist' THEN 'composer' WHEN 'conancenter' THEN 'conan'
    WHEN 'github actions' THEN 'githubactions' WHEN 'go-module' THEN 'golang' WHEN 'java' THEN 'maven'
    WHEN 'python' THEN 'pypi' WHEN 'swifturl' THEN 'swift' WHEN 'vscode' THEN 'vscode-extension'
    ELSE `component_type` END || '/' || CASE `component_type`
    WHEN 'java' THEN replace(`artifact_name`, ':', '/')
    WHEN 'python' THEN replace(replace(`artifact_name`, '_', '-'), '.', '-')
    ELSE `artifact_name` END
  ELSE `artifact_name` END))
WHERE `product` = '' AND `artifact_name` <> '' AND length(`artifact_name`) <= 200;--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`)
SELECT 'products', json_extract(`look_up_keys`, '$[0]'), `uid` FROM `advisories` WHERE json_extract(`look_up_keys`, '$[0]') IS NOT NULL;
