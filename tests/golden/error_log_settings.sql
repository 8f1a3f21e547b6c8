-- How the error log is written, as far as variables say it.
SELECT @@log_error_services, @@log_timestamps;
SET GLOBAL log_error_services = NULL;
SET GLOBAL log_error_services = 'log_filter_internal; log_sink_internal; log_sink_json';
SELECT @@log_error_services;
SET GLOBAL log_error_services = 'log_sink_internal';
SET GLOBAL log_error_services = 'log_filter_internal';
SET GLOBAL log_error_services = DEFAULT;
SET GLOBAL log_timestamps = SYSTEM;
SELECT @@log_timestamps;
SET GLOBAL log_timestamps = DEFAULT;
SET GLOBAL log_error_verbosity = 3;
SET GLOBAL log_error_verbosity = DEFAULT;
SET GLOBAL log_error = 'x';
FLUSH ERROR LOGS;
